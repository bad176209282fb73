"""Running systems: incidents, deployments, capacity."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.rules import Act, Speaker

from .pack import Pack, row

_WE: Final = r"(?:(?:i|we)(?:'ve| have| just|'ve just)? |(?:just|now|also) )*"
_THING: Final = r"[\w@.:+#/-]+(?: [\w@.:+#/-]+){0,4}"

OPS: Final = Pack(
    "ops",
    r"\b(?:incident|outage|on[- ]?call|pager|paged|alert(?:s|ing|manager)?|deploy(?:s|ed|ment)?|rollback|rolled back"
    r"|failover|replica|node|cluster|pods?|kubectl|grafana|prometheus|latency|p9[59]|disk|cpu|runbook|post-?mortem|sla"
    r"|slo|downtime|backups?|dns|load balancer|ssh|systemd|cron)\b",
    (
        row(
            "ops.rolled_back",
            Act.CLAIM,
            rf"{_WE}(?P<label>(?:rolled back|reverted|failed over|drained|cordoned|restarted|rebooted|scaled (?:up"
            rf"|down|out"
            rf"|in)|patched|rotated|renewed|restored|promoted|decommissioned|silenced|migrated|bounced) {_THING}.*)",
            "rolled back checkout to 4.18",
            "rolled back carpets are in the hall",
            unless=r"rolled back [\w ]+ (?:is|are)\b",
        ),
        row(
            "ops.is_down",
            Act.COMPLAINT,
            rf"(?P<label>(?:the |our )?{_THING} (?:is|are|went|has been|keeps? going|was) (?:down|unreachable"
            rf"|degraded|offline"
            r"|flapping|unhealthy|saturated|oom-?killed|throttled|out of (?:disk|memory|space))\b.*)",
            "eu-west-2 is flapping since noon",
            "the price is down to 4 euros",
            unless=r".*\bdown (?:to|from|by)\b|.*\b(?:was|were) down (?:yesterday|last)\b",
        ),
        row(
            "ops.firing",
            Act.COMPLAINT,
            rf"(?:{_WE}(?:got |been )?paged (?:for|by|about) |alert(?: is)? firing: |alert: )(?P<label>.+)",
            "paged for HighErrorRate on the api",
            "the alert box is green",
        ),
        row(
            "ops.went_from_to",
            Act.COMPLAINT,
            r"(?P<label>(?:the )?(?:p\d\d|latency|error rate|memory|cpu|disk|load|lag|queue(?: depth)?"
            r"|response time)s? "
            r"(?:\w+ ){0,3}?(?:went|jumped|rose|climbed|is up|spiked|grew|shot up) (?:from .+ )?to .+)",
            "p95 went from 18 to 31 ms",
            "latency went away",
        ),
        row(
            "ops.full",
            Act.COMPLAINT,
            rf"(?P<label>(?:the )?{_THING} (?:is|are|at|is at|hit|sits at|reached) (?:9\d|100) ?(?:%|percent)(?: .*)?)",
            "the data disk is at 97%",
            "the tests are 97% done",
            unless=r".*\b(?:done|complete|covered|finished|coverage|uptime|sure|availability)\b",
        ),
        row(
            "ops.recovered",
            Act.CONFIRM,
            rf"(?:(?:the )?(?:incident|outage|alert)|{_THING}) (?:is|has been|was) (?:resolved|mitigated|back up"
            rf"|back to normal"
            r"|healthy again|recovered|green again|cleared)\b.*",
            "the outage is mitigated since 14:10",
            "resolved names are cached",
        ),
        row(
            "ops.freeze",
            Act.RULE,
            r"(?P<label>(?:(?:change|deploy|deployment|code|release) freeze|no (?:deploys?|deployments|releases"
            r"|changes|pushes)"
            r") (?:is on |in place )?(?:until|till|from|during|on|before|after|over) .+)",
            "deploy freeze until Monday",
            "the freeze dried fruit until Monday",
            confidence=0.8,
        ),
        row(
            "ops.follow_up",
            Act.LATER,
            r"(?:action items?|follow[- ]?ups?)(?: for (?P<target>[^:]{1,40}))?: (?P<label>.+)",
            "follow-up: raise the connection limit",
            "a follow-up visit",
        ),
        row(
            "ops.root_cause",
            Act.DIAGNOSIS,
            r"(?:the )?root cause (?:is|was|turned out to be|:)(?: that)? (?P<label>.+)",
            "root cause was an expired certificate",
            "root causes are hard",
            speaker=Speaker.BOTH,
        ),
    ),
    "we got paged at 3, the replica lags and the pods restart",
    "chapter three needs another scene",
)
