/*
 * Every family of /metrics: METRIC(name, type, labels, help). HELP and TYPE of the output come from this
 * table. Labels are names separated by blanks, without the `le` of histograms. Names and help need no escape.
 * No include guard: the file is included once per expansion.
 */
METRIC(shootd_access_log_dropped_total, counter, "",
       "Access lines that were not written because too many waited.")
METRIC(shootd_auth_failures_total, counter, "reason",
       "Requests with missing or wrong credentials, by the reason.")
METRIC(shootd_backup_newest_timestamp_seconds, gauge, "", "Time of the newest backup; 0: no backup is known.")
METRIC(shootd_backup_newest_bytes, gauge, "", "Size of the newest backup; 0: no backup is known.")
METRIC(shootd_backup_last_success, gauge, "", "0 when the last attempted backup failed, else 1.")
METRIC(shootd_backups_total, counter, "outcome", "Attempted backups of the store.")
METRIC(shootd_build_info, gauge, "version revision", "Version of the program; always 1.")
METRIC(shootd_clusters, gauge, "project phase", "Known clusters, by project and phase.")
METRIC(shootd_clusters_operation_failed, gauge, "project",
       "Clusters whose last operation failed, and that had no other one since.")
METRIC(shootd_clusters_version_end_timestamp_seconds, gauge, "project",
       "Time when the first version in use by a cluster of the project ends; 0: none is known to end.")
METRIC(shootd_config_reload_success, gauge, "",
       "1 while the configuration that was read last, at the start or by a reload, has no faults.")
METRIC(shootd_events_total, counter, "type", "Events that were stored since the start.")
METRIC(shootd_events_oldest_sequence, gauge, "", "Sequence of the oldest stored event; 0: there is none.")
METRIC(shootd_events_newest_sequence, gauge, "", "Sequence of the newest event.")
METRIC(shootd_view_snapshots_total, counter, "",
       "Snapshots of the view that were published. One snapshot shows all changes of a turn of the loop.")
METRIC(shootd_http_request_duration_seconds, histogram, "route method",
       "Time from the end of the header section to the end of the answer.")
METRIC(shootd_http_wait_duration_seconds, histogram, "route method",
       "The same time for requests with wait, for reads that ask Cleura, and for event streams.")
METRIC(shootd_http_requests_in_flight, gauge, "", "Requests in progress.")
METRIC(shootd_http_parked, gauge, "", "Requests that wait for a decision or for an operation to end.")
METRIC(shootd_http_connections_reaped_total, counter, "",
       "Connections that were closed because the client was too slow.")
METRIC(shootd_http_connections_refused_total, counter, "",
       "Connections that were refused because their address had too many open connections.")
METRIC(shootd_http_quota_refused_total, counter, "policy",
       "Requests over a quota: answered 429, or for fresh_reads from memory.")
METRIC(shootd_http_requests_total, counter, "method route code", "Completed HTTP requests.")
METRIC(shootd_log_lines_dropped_total, counter, "",
       "Log lines that were not written: nobody read stderr or the journal fast enough, or writing failed.")
METRIC(shootd_log_messages_total, counter, "level", "Log messages by level, dropped ones included.")
METRIC(shootd_issues, gauge, "project severity", "Issues of the clusters of a project, by severity.")
METRIC(shootd_loop_stall_seconds, histogram, "", "Time for which single pieces of work occupied the loop.")
METRIC(shootd_loop_longest_stall_seconds, gauge, "clock",
       "Longest time for which one piece of work occupied the loop, by the clock and in CPU time.")
METRIC(shootd_oidc_tokens_total, counter, "result",
       "Checked JWTs, by result; a valid JWT is not checked again for a minute.")
METRIC(shootd_oidc_tokens_waiting, gauge, "", "JWTs that are being verified or wait for that.")
METRIC(shootd_oidc_tokens_turned_away_total, counter, "",
       "JWTs that were answered 429 without a check, because too many waited.")
METRIC(shootd_oidc_key_reads_total, counter, "outcome", "Reads of the keys of an issuer.")
METRIC(shootd_oidc_keys, gauge, "", "Trusted keys of all issuers.")
METRIC(shootd_oidc_issuers_without_keys, gauge, "",
       "Issuers whose tokens are refused because keys are missing.")
METRIC(shootd_oidc_oldest_keys_age_seconds, gauge, "", "Age of the oldest keys of any issuer.")
METRIC(shootd_operation_duration_seconds, histogram, "type outcome",
       "Duration of ended operations, from their acceptance to their end.")
METRIC(shootd_operation_step_duration_seconds, histogram, "step outcome",
       "Duration of the steps of ended operations, from the start of the step to its end.")
METRIC(shootd_operations_open, gauge, "", "Operations that have not ended.")
METRIC(shootd_project_oldest_observation_age_seconds, gauge, "project",
       "Age of the oldest cluster data in the project.")
METRIC(shootd_projects_set_aside, gauge, "", "Projects whose location at Cleura was changed.")
METRIC(shootd_projects_frozen, gauge, "", "Projects with a freeze.")
METRIC(shootd_reloads_total, counter, "outcome", "Reloads of the configuration, by outcome.")
METRIC(shootd_spans_recorded_total, counter, "", "Spans that were recorded.")
METRIC(shootd_spans_dropped_total, counter, "",
       "Spans that were dropped because the queue was full: the receiver is slow or unreachable.")
METRIC(shootd_spans_exported_total, counter, "outcome", "Spans that were sent, by outcome.")
METRIC(shootd_sse_streams, gauge, "", "Open event streams.")
METRIC(shootd_sse_streams_ended_total, counter, "end", "Event streams that ended, by the reason.")
METRIC(shootd_sse_events_sent_total, counter, "", "Events sent to streams.")
METRIC(shootd_store_rows_put_aside, gauge, "", "Stored rows that cannot be read (shootd check-store).")
METRIC(shootd_store_commits_total, counter, "", "Transactions committed.")
METRIC(shootd_store_change_sets_total, counter, "", "Change sets in those transactions.")
METRIC(shootd_store_errors_total, counter, "", "Failed transactions.")
METRIC(shootd_store_commit_seconds_total, counter, "", "Time spent in transactions.")
METRIC(shootd_store_queue_depth, gauge, "", "Change sets waiting to be committed.")
METRIC(shootd_tls_certificate_end_timestamp_seconds, gauge, "",
       "Time when the certificate in use expires; 0: there is no TLS.")
METRIC(shootd_upstream_requests_total, counter, "operation outcome",
       "Calls to Cleura that ended, by operation and outcome.")
METRIC(shootd_upstream_request_duration_seconds, histogram, "operation outcome",
       "Duration of the calls to Cleura that were sent.")
METRIC(shootd_upstream_logins_total, counter, "result", "Logins at Cleura.")
METRIC(shootd_upstream_breakers_open, gauge, "", "Accounts whose circuit breaker is not closed.")
METRIC(shootd_upstream_breaker_opened_total, counter, "", "How often a circuit breaker opened.")
METRIC(shootd_upstream_retries_delayed_total, counter, "",
       "Retries that were delayed because their budget was used up.")
METRIC(shootd_upstream_rows_refused_total, counter, "",
       "Shoots in lists of Cleura that were left out, because their name is impossible or their uid cannot "
       "be read.")
METRIC(shootd_upstream_members_unread_total, counter, "",
       "Members of answers of Cleura that cannot be read, and count as unknown.")
METRIC(shootd_upstream_rows_unchanged_total, counter, "",
       "Shoots in lists of Cleura with the same bytes as before, which were not decoded again.")
METRIC(shootd_upstream_breaker_state, gauge, "account state",
       "1 for the state that the circuit breaker of an account is in.")
METRIC(shootd_upstream_lane_depth, gauge, "account", "Calls of an account that wait or are in flight.")
METRIC(shootd_upstream_last_contact_age_seconds, gauge, "account",
       "Time since Cleura's last answer to an account, or since the start.")
METRIC(shootd_webhook_attempts_total, counter, "outcome", "Finished attempts to deliver, by outcome.")
METRIC(shootd_webhook_delivery_delay_seconds, histogram, "", "Time from an event to its delivery.")
METRIC(shootd_webhook_pending, gauge, "", "Deliveries that are neither delivered nor failed.")
METRIC(shootd_webhook_in_flight, gauge, "", "Pending deliveries that are being sent.")
METRIC(shootd_webhook_oldest_pending_age_seconds, gauge, "",
       "Age of the oldest event with a pending delivery; 0: there is none.")
METRIC(shootd_webhooks, gauge, "state", "Webhooks, by state.")
METRIC(shootd_webhooks_unreadable, gauge, "", "Webhooks whose secrets the seal key does not open.")
METRIC(process_cpu_seconds_total, counter, "", "Total user and system CPU time spent in seconds.")
METRIC(process_max_fds, gauge, "", "Maximum number of open file descriptors.")
METRIC(process_open_fds, gauge, "", "Number of open file descriptors.")
METRIC(process_resident_memory_bytes, gauge, "", "Resident memory size in bytes.")
METRIC(process_start_time_seconds, gauge, "", "Start time of the process since unix epoch in seconds.")
METRIC(process_threads, gauge, "", "Number of OS threads in the process.")
METRIC(process_virtual_memory_bytes, gauge, "", "Virtual memory size in bytes.")
