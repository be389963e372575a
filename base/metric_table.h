/*
 * Every family of /metrics: METRIC(name, type, labels, help). HELP and TYPE of the output come from this
 * table. Labels are names separated by blanks, without the `le` of histograms. Names and help need no escape.
 * No include guard: the file is included once per expansion.
 */
METRIC(shootd_access_log_dropped_total, counter, "",
       "Access lines that were not written because too many waited.")
METRIC(shootd_auth_failures_total, counter, "reason",
       "Requests with missing or wrong credentials, by what was wrong.")
METRIC(shootd_backup_newest_timestamp_seconds, gauge, "", "When the newest was made, 0: none known.")
METRIC(shootd_backup_newest_bytes, gauge, "", "Size of the newest, 0: none known.")
METRIC(shootd_backup_last_success, gauge, "", "1 unless the last backup that was tried failed.")
METRIC(shootd_backups_total, counter, "outcome", "Backups of the store that were tried.")
METRIC(shootd_build_info, gauge, "version revision", "Version of the program; always 1.")
METRIC(shootd_clusters, gauge, "phase", "Clusters known, by phase.")
METRIC(shootd_config_reload_success, gauge, "",
       "1 while the file that was read last, at the start or by a reload, has no faults.")
METRIC(shootd_events_total, counter, "type", "Events that became durable since the start.")
METRIC(shootd_events_oldest_sequence, gauge, "", "Number of the oldest event that is kept, 0: none.")
METRIC(shootd_events_newest_sequence, gauge, "", "Number of the newest event.")
METRIC(shootd_http_request_duration_seconds, histogram, "route method",
       "Time from the end of the header section to the end of the answer.")
METRIC(shootd_http_wait_duration_seconds, histogram, "route method",
       "The same of requests that asked to wait, or for Cleura's own answer, and of streams.")
METRIC(shootd_http_requests_in_flight, gauge, "", "Requests between header section and end of answer.")
METRIC(shootd_http_parked, gauge, "", "Requests that wait for a decision or for an operation to end.")
METRIC(shootd_http_connections_reaped_total, counter, "", "Connections shut down for being too slow.")
METRIC(shootd_http_connections_refused_total, counter, "",
       "Connections refused because their address had too many open.")
METRIC(shootd_http_quota_refused_total, counter, "policy", "Requests answered 429 for a quota.")
METRIC(shootd_http_requests_total, counter, "method route code", "Completed HTTP requests.")
METRIC(shootd_log_messages_total, counter, "level", "Log messages by level, dropped ones included.")
METRIC(shootd_loop_stall_seconds, histogram, "", "How long single pieces of work held the loop.")
METRIC(shootd_loop_longest_stall_seconds, gauge, "clock",
       "The longest of them, by the clock and in CPU time.")
METRIC(shootd_oidc_tokens_total, counter, "result",
       "JWTs that were looked at, by what came of it; those that were seen within a minute are not looked at "
       "again.")
METRIC(shootd_oidc_tokens_waiting, gauge, "", "JWTs that are being verified or wait for that.")
METRIC(shootd_oidc_tokens_turned_away_total, counter, "",
       "JWTs that were answered 429 without a look, because too many waited.")
METRIC(shootd_oidc_key_reads_total, counter, "outcome", "Times that keys of an issuer were read.")
METRIC(shootd_oidc_keys, gauge, "", "Keys of issuers that are trusted now.")
METRIC(shootd_oidc_issuers_without_keys, gauge, "", "Issuers whose tokens are refused for want of keys.")
METRIC(shootd_oidc_oldest_keys_age_seconds, gauge, "",
       "Since the keys of an issuer were read, of the issuer where that is longest ago.")
METRIC(shootd_operation_duration_seconds, histogram, "type outcome",
       "Operations that ended, from their acceptance to their end.")
METRIC(shootd_operation_step_duration_seconds, histogram, "step outcome",
       "Of these, the steps that were begun, from their begin to their end.")
METRIC(shootd_operations_open, gauge, "", "Operations that have not ended.")
METRIC(shootd_project_oldest_observation_age_seconds, gauge, "project",
       "Since the cluster of a project that was not seen for longest was.")
METRIC(shootd_projects_set_aside, gauge, "", "Projects whose place at Cleura was changed.")
METRIC(shootd_projects_frozen, gauge, "", "Projects whose clusters are not to be changed now.")
METRIC(shootd_reloads_total, counter, "outcome", "Times that the configuration was read again.")
METRIC(shootd_spans_recorded_total, counter, "", "Spans that were recorded.")
METRIC(shootd_spans_dropped_total, counter, "",
       "Spans that were not, for want of room: their receiver is slow or away.")
METRIC(shootd_spans_exported_total, counter, "outcome", "Spans that were sent, by what became of them.")
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
       "When the certificate in use ends, 0: there is no TLS.")
METRIC(shootd_upstream_requests_total, counter, "operation outcome",
       "Calls to Cleura that ended, by operation and outcome.")
METRIC(shootd_upstream_request_duration_seconds, histogram, "operation outcome",
       "Of these, how long those took that were sent.")
METRIC(shootd_upstream_logins_total, counter, "result", "Logins at Cleura.")
METRIC(shootd_upstream_breakers_open, gauge, "", "Accounts whose circuit breaker is not closed.")
METRIC(shootd_upstream_breaker_opened_total, counter, "", "Times a circuit breaker opened.")
METRIC(shootd_upstream_retries_delayed_total, counter, "", "Retries that waited for their budget.")
METRIC(shootd_upstream_rows_refused_total, counter, "",
       "Shoots in lists of Cleura that were left out: their name cannot be, or their uid cannot be read.")
METRIC(shootd_upstream_members_unread_total, counter, "",
       "Members of answers of Cleura that cannot be read, and count as unknown.")
METRIC(shootd_upstream_rows_unchanged_total, counter, "",
       "Shoots in lists of Cleura that came as before, byte for byte, and were not decoded.")
METRIC(shootd_upstream_breaker_state, gauge, "account state",
       "1 for the state that the circuit breaker of an account is in.")
METRIC(shootd_upstream_lane_depth, gauge, "account", "Calls of an account that wait or are under way.")
METRIC(shootd_upstream_last_contact_age_seconds, gauge, "account",
       "Since Cleura's last answer to an account, or since the start.")
METRIC(shootd_webhook_attempts_total, counter, "outcome", "Finished attempts to deliver, by outcome.")
METRIC(shootd_webhook_delivery_delay_seconds, histogram, "", "From the event to its delivery.")
METRIC(shootd_webhook_pending, gauge, "", "Deliveries that are neither delivered nor given up.")
METRIC(shootd_webhook_in_flight, gauge, "", "Of these, those that are being sent.")
METRIC(shootd_webhook_oldest_pending_age_seconds, gauge, "",
       "Since the oldest event of these; 0: there is none.")
METRIC(shootd_webhook_endpoints, gauge, "state", "Subscriptions, by state.")
METRIC(shootd_webhooks_unreadable, gauge, "", "Webhooks whose secrets the seal key does not open.")
METRIC(process_cpu_seconds_total, counter, "", "Total user and system CPU time spent in seconds.")
METRIC(process_max_fds, gauge, "", "Maximum number of open file descriptors.")
METRIC(process_open_fds, gauge, "", "Number of open file descriptors.")
METRIC(process_resident_memory_bytes, gauge, "", "Resident memory size in bytes.")
METRIC(process_start_time_seconds, gauge, "", "Start time of the process since unix epoch in seconds.")
METRIC(process_threads, gauge, "", "Number of OS threads in the process.")
METRIC(process_virtual_memory_bytes, gauge, "", "Virtual memory size in bytes.")
