/* What is wrong with accounts and projects, one issue for all clusters of the place, and with webhooks. */
#include <assert.h>

#include "model/error_meanings.h"
#include "model/issues_private.h"

static const struct issue_kind kinds[PLACE_FAULT_MAX_] = {
    [ACCOUNT_LOGIN_FAILED] = {"account_login_failed",
                              ISSUE_CRITICAL,
                              "account",
                              BY_OPERATOR,
                              "shootd cannot log in to Cleura",
                              "Check the login and the password of the account in shootd's configuration.",
                              {REMEDY_CONTACT, BY_OPERATOR}},
    [ACCOUNT_NEEDS_CODE] = {"account_needs_code",
                            ISSUE_CRITICAL,
                            "account",
                            BY_OPERATOR,
                            "Cleura asks for a second factor",
                            "Log the account in with the code that Cleura sends.",
                            {REMEDY_CONTACT, BY_OPERATOR}},
    [ACCOUNT_AWAY] = {"account_unreachable",
                      ISSUE_CRITICAL,
                      "account",
                      BY_CLEURA,
                      "Cleura does not answer",
                      "Wait: shootd asks again. What is shown is what Cleura said last, and changes wait.",
                      {REMEDY_WAIT, "shootd asks Cleura again."}},
    [PROJECT_UNREAD] = {"project_unread",
                        ISSUE_WARNING,
                        "project",
                        BY_OPERATOR,
                        "The clusters of the project cannot be read",
                        "Check the rights of the account in the project at Cleura.",
                        {REMEDY_CONTACT, BY_OPERATOR}},
    [PROJECT_SET_ASIDE] = {"project_set_aside",
                           ISSUE_WARNING,
                           "project",
                           BY_OPERATOR,
                           "The configuration names another place for the project",
                           "An admin has to confirm where the clusters of the project belong.",
                           {REMEDY_CONTACT, BY_OPERATOR}},
    [WEBHOOK_FAILS] = {"webhook_failing",
                       ISSUE_WARNING,
                       "webhook",
                       BY_OPERATOR,
                       "The receiver of a webhook accepts no events",
                       "Repair the receiver, or change the URL; shootd then sends the events that wait.",
                       {REMEDY_CONTACT, BY_OPERATOR}},
};

json_t *issue_of_place(enum place_fault fault, const struct issue_place *place)
{
    assert(fault < PLACE_FAULT_MAX_);
    return issue_new(&kinds[fault], kinds[fault].severity,
                     &(struct issue_occurrence){
                         .subject = place->name, .description = place->description, .since = place->since});
}
