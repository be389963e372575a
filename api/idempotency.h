/* Idempotency-Key on the HTTP side: the field and what a request is recognized by. The worker of the request.
 */
#ifndef API_IDEMPOTENCY_H
#define API_IDEMPOTENCY_H

struct request;

/* Once the whole body is here: what a repetition has to be equal in (HT-47). Nothing without a key. */
void idempotency_take_fingerprint(struct request *r);

#endif
