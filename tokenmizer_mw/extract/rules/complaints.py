"""What people say when something does not work."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker

_NOUN: Final = (
    r"(?:error|exception|failure|warning|crash|traceback|timeout|bug|leak|typo|race|deadlock"
    r"|regression|conflict|40\d|42\d|50\d)"
)
_NO_VERB: Final = (
    r"(?:a|an|any|coffee|day|days|detect|few|frequent|hour|hours|hr|longer|lunch|many|min|mindful|minute|minutes|more"
    r"|my|no"
    r"|of|occasional|our|quick|regular|screen|short|shorter|several|small|some|spring|take|takes|taking|to|took|two"
    r"|weekend"
    r"|yoga|\d+|and|let's|lets|i'll|we'll|could|should|would|might|may|i|we|you|[\w-]+-(?:hour|minute|day|min))"
)
"""What stands before "break" and the like where nothing breaks."""

_THING: Final = r"(?:[\w\pL@.,'`/()+#\"-]+ ){1,9}"


def _rule(
    name: str, act: Act, pattern: str, confidence: float, example: str, counter: str, *, unless: str = ""
) -> Rule:
    return Rule(f"complaint.{name}", Speaker.USER, act, pattern, confidence, example, counter, unless)


COMPLAINTS: Final = (
    _rule(
        "still_bare",
        Act.STILL,
        r"(?:(?:it|that|this|they|but it|no it)(?:'s| is| are)? )?(?:still|again)(?: (?:is|are"
        r"|it's))? ?(?:broken|fails?"
        r"|failing|not working|not fixed|the same|doesn't (?:work|help)|does not work|no luck|there|crash(?:es|ing)"
        r"|happen(?:s|ing)|wrong|an issue|red|not there|nothing|getting (?:it|that|the same)|not)(?: (?:for|on"
        r"|in|with|at|when|here|now|after|even) [^,;:]*)?"
        r"(?:[,;:-] ?(?P<reason>.+))?$",
        0.85,
        "still broken",
        "still life with apples on a table in the morning light of a day",
    ),
    _rule(
        "same_error",
        Act.STILL,
        r"(?:i'm |i |we )?(?:(?:still )?(?:get(?:ting)?|see(?:ing)?|have|having) )?(?:the |exactly the |exact )?same"
        r" (?:error|problem|issue|thing|result|message|failure|exception|bug|outcome)\b.*",
        0.85,
        "same error again",
        "same procedure as last year",
    ),
    _rule(
        "didnt_work",
        Act.STILL,
        r"(?:(?:but )?(?:that|this|it|which|your fix|the fix)(?: just| really| still)? )?(?:didn't|did not"
        r"|doesn't|does not|didnt|doesnt|hasn't|has not)"
        r" (?:work(?:ed)?|help(?:ed)?|fix(?:ed)?(?: it| that)?|change(?:d)? anything|solve(?:d)? it|do it"
        r"|do anything)\b[^,;:]*"
        r"(?:[,;:-] ?(?P<reason>.+))?$",
        0.85,
        "that didn't work",
        "that didn't take long",
    ),
    _rule(
        "not_finished",
        Act.STILL,
        r"(?:(?:so|then|but|no|damn|well),? )*(?:it|that|this) ?(?:isn't|isnt|is not|'s not|wasn't|was not)"
        r"(?: (?:really |quite )?(?:finished|done|fixed|solved|resolved|over|it)(?: (?:yet|then|after all|at all))?)?$",
        0.8,
        "so it isn't finished",
        "it isn't finished before Friday, I think",
    ),
    _rule(
        "no_luck",
        Act.STILL,
        r"(?:no luck|no change|no difference|not fixed|not working|nothing changed|doesn't work|didn't work"
        r"|won't work|no effect|no dice)\b.*",
        0.85,
        "no luck",
        "no change in the schedule was made? ok",
        unless=r"no change (?:in|to|is needed|needed|required)\b",
    ),
    _rule(
        "you_havent",
        Act.STILL,
        r"(?:you|but you|u) (?:haven't|have not|didn't|did not|forgot(?: to)?|missed|only|broke|removed"
        r"|deleted) (?P<label>.{3,})",
        0.7,
        "you forgot to update the header",
        "you have done well",
    ),
    _rule(
        "there_is",
        Act.COMPLAINT,
        r"(?:there(?:'s| is| are)|we have|i have|got|found|i found|i see|has) (?P<label>(?:an? |the |still "
        r"|some |another |one )*(?:[\w'-]+ ){0,4}?"
        r"(?:error|exception|bug|problem|issue|leak|typo|race|deadlock|regression|glitch|conflict|mismatch)s?\b.*)",
        0.8,
        "there's a memory leak in the worker",
        "there is a problem-solving class on Mondays? no",
        unless=r".*\b(?:problem|error|bug|issue)-|.*\b(?:no|without|any) (?:error|problem|issue|bug)",
    ),
    _rule(
        "keeps",
        Act.COMPLAINT,
        rf"(?P<label>{_THING}(?:keeps?|kept)(?: on)? (?:\w+ing|crashing|failing)\b.*)",
        0.9,
        "Login keeps returning 422",
        "It helps to keep asking",
        unless=r"(?:i|we|you|he|she|they) |.*\b(?:to|and|or|will|can|could|should|must|would|may|might|let's|lets"
        r"|please|i|we"
        r"|you|they|i'll|we'll|i'd|just|definitely|also|really|always|helps? (?:me|us)) (?:keep|kept)\b|let's ",
    ),
    _rule(
        "not_doing",
        Act.COMPLAINT,
        rf"(?P<label>{_THING}(?:is|are|was|were)(?: still| now| just| really)*(?: not|n't|nt"
        rf"| no longer) (?:\w+ing|working|there|visible|correct"
        r"|right|showing|updated|found|shown|displayed|saved|applied|recogni[sz]ed|defined|available|loaded"
        r"|called|sent|ok|good)\b.*)",
        0.85,
        "The chart is not updating in real time",
        "The choice is not obvious to me",
    ),
    _rule(
        "doesnt",
        Act.COMPLAINT,
        rf"(?P<label>{_THING}(?:doesn't|does not|doesnt|don't|do not|didn't|did not|won't|will not|wont|can't"
        rf"|cannot|couldn't)(?: even| seem to"
        r"| get| always| really)* (?:work|load|show|start|open|close|update|render|compile|build|run|connect"
        r"|save|respond|fire|match|pass"
        r"|display|appear|scroll|fit|find|resolve|parse|see|send|login|log in|reach|play|sync|refresh|change"
        r"|stop|import|install|fetch"
        r"|return|trigger|move|exist|recogni[sz]e|accept|do anything)\b.*)",
        0.85,
        "the export button does not work on Safari",
        "I don't know why",
    ),
    _rule(
        "is_broken",
        Act.COMPLAINT,
        rf"(?P<label>{_THING}(?:is|are|was|got|gets|looks?|seems?|remains?|stays?|'s)(?: still| now| completely"
        rf"| totally| really| always| all"
        r"| way| again| just| also)* (?:broken|failing|crashing|stuck|down|wrong|too slow|slow|laggy|red|flaky"
        r"|dead|hanging|frozen|garbled"
        r"|buggy|unreachable|corrupt(?:ed)?|blank|off by|cut off|misaligned|duplicated|out of sync|unreadable"
        r"|unusable|ugly|undefined"
        r"|null|nan)\b.*)",
        0.85,
        "Training is too slow",
        "The light is green and all is well",
    ),
    _rule(
        "fails",
        Act.COMPLAINT,
        rf"(?P<label>{_THING}(?:still |now |always |sometimes |also |just |randomly )*(?:fails?|failed"
        rf"|crash(?:es|ed)?|breaks?|broke|dies|died|hangs?"
        r"|throws|threw|errors? out|times? out|timed out|freezes|froze|explodes?|bombs|stalls?|blows up"
        r"|segfaults?|leaks?|disappears?"
        r"|vanish(?:es)?|complains?|screams?|jumps?|flickers?|deadlocks?)\b.*)",
        0.8,
        "uploading videos dies at exactly 60s",
        "I take two breaks a day",
        unless=rf".*\b{_NO_VERB} (?:breaks?|jumps?|leaks?)\b|.*\bno (?:\w+ )?(?:leaks?|crash)\b",
    ),
    _rule(
        "getting",
        Act.COMPLAINT,
        r"(?:but |now |and |then )*(?:i|we|users?|it|people|they)(?:'m| am| are|'re)?(?: still| now| always"
        r"| also| just| keep| sometimes)*"
        r" (?:get|gets|getting|got|see|seeing|saw|hit|hitting|gives?(?: me)?|gave(?: me)?|ran into|run into|have"
        r"|receive|returns?|returned|shows?"
        rf"|says) (?P<label>(?:an? |the |this |these |some |random |weird )*(?:.{{0,80}}?\b)?{_NOUN}\b.*)",
        0.85,
        "I get a TypeError: error in the console",
        "I get the idea now",
    ),
    _rule(
        "named_error",
        Act.COMPLAINT,
        r"(?P<label>(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Failure|Timeout)\b.*)",
        0.85,
        "TypeError: cannot read properties of undefined",
        "The error is documented",
    ),
    _rule(
        "status_code",
        Act.COMPLAINT,
        r"(?P<label>(?:404|403|401|422|429|500|502|503|504|409|400|405)(?: \w+| on| for| from| when|[.,:]).*)",
        0.75,
        "502 from the proxy on every upload",
        "500 rows were imported",
        unless=r"\d{3} (?:\w+ )?(?:rows?|users?|items?|lines?|files?|records?|requests?|ms|mb|kb|people|entries"
        r"|tests?|words|tokens|eur|usd|were|is|are)\b",
    ),
    _rule(
        "unable",
        Act.COMPLAINT,
        r"(?P<label>(?:(?:i'm |i am |it's |it is |we are |still )?(?:unable|failing|refusing) to .{3,}"
        r"|could not .{3,}|cannot .{3,}|can't .{3,}))",
        0.75,
        "unable to load the review page",
        "Can't wait to open the new shop",
        unless=r"(?:can't|cannot|could not) (?:wait|believe|thank|help (?:but|it|feeling|thinking)|say|tell|imagine"
        r"|recommend"
        r"|afford|stress|agree|complain|decide|remember|promise|express|argue|blame|hurt)\b",
    ),
    _rule(
        "no_longer",
        Act.COMPLAINT,
        r"(?P<label>(?:[\w@.,'`/()+#\"-]+ ){1,8}?(?:no longer|never) (?:works?|shows?|loads?|starts?|opens?"
        r"|updates?|saves?|appears?|compiles?|builds?|runs?"
        r"|fires?|arrives?|finishes|responds?|returns?)\b.*)",
        0.8,
        "the menu no longer opens on tablets",
        "I no longer work there",
        unless=r"(?:i|we|you|he|she|they) ",
    ),
    _rule(
        "lost",
        Act.COMPLAINT,
        r"(?P<label>(?:the |our |my )(?:[\w'`/.#-]+ ){1,6}?(?:somehow |suddenly |just |has |have )*(?:lost"
        r"|disappeared|vanished|got reverted|went missing|got lost)\b.*)",
        0.75,
        "the login page somehow lost its footer",
        "we lost the game",
    ),
    _rule(
        "kind_of_error",
        Act.COMPLAINT,
        r"(?P<label>(?:compiler?|compilation|build|runtime|type|syntax|lint|linker|import|server|client|console|network"
        r"|tls|ssl|auth|migration|deploy|terraform|docker|sql|db) (?:error|failure): ?.{4,})",
        0.85,
        "compile error: cannot find symbol clock",
        "build errors are listed below the form",
    ),
    _rule(
        "only_part",
        Act.COMPLAINT,
        rf"(?P<label>{_THING}only (?:contains?|shows?|returns?|sends?|gets?|logs?|prints?|saves?|keeps?|exports?"
        r"|imports?|includes?|covers?|passe?s?|works?|runs?|loads?|builds?|renders?|sees?) (?:the |one |a |half|in |on "
        r"|when |after |with |if )(?:first|last|old|half|part|one|single|order|windows|mac|linux|debug)\b.*)",
        0.75,
        "the string that is sent only contains the last word",
        "the archive only contains what we need",
        unless=r"(?:i|we|you|it should|please|make|if|when) |.*\b(?:should|must|can|may|to) only\b",
    ),
    _rule(
        "not_able",
        Act.COMPLAINT,
        r"(?P<label>(?:[\w@.,'`/()+#\"-]+ ){1,9}?(?:is|are|was|were)(?: still| now)?(?: not|n't) (?:click|reach|read"
        r"|select|access|us|play|search|scroll|edit|sort|print|download|visi|un?mount|resolv|reproduc|drag)(?:able|ible"
        r"|ble)\b.*)",
        0.8,
        "the save button is not clickable",
        "the choice is not reversible, fine",
        unless=r"(?:if|when|it is fine|should|must) ",
    ),
    _rule(
        "lost_somehow",
        Act.COMPLAINT,
        r"(?P<label>(?:[\w'`/.#-]+ ){1,6}?(?:somehow|suddenly|just|silently) (?:lost|drops?|dropped|forgot|forgets|ate"
        r"|swallow(?:s|ed)|overwrote|overwrites|deleted|removed) .+)",
        0.75,
        "login page suddenly lost its footer",
        "he just lost the game",
        unless=r"(?:i|we|you|he|she|they|please|let's|can|could) ",
    ),
    _rule(
        "contradicts",
        Act.COMPLAINT,
        r"(?P<label>(?:the |our |my |your |that |this |these |its )(?:[\w'`/.#-]+ ){1,8}?(?:contradicts?"
        r"|clash(?:es)? with|conflicts? with|bounces?|double[- ]counts?|overlaps? with|survives?) .{3,})",
        0.75,
        "the clause on laptops contradicts the contract",
        "the two of us contradict each other a lot",
        unless=r".*\b(?:each other|us|them)\b|.*\b(?:must|should|may|can|to|not) (?:contradict|clash|conflict|bounce"
        r"|overlap|survive)",
    ),
    _rule(
        "shows_old",
        Act.COMPLAINT,
        r"(?P<label>(?:[\w'`/.#-]+ ){1,8}?(?:still )?(?:shows?|displays?|lists?|prints?|uses|serves?|returns?"
        r"|picks?(?: up)?) (?:the |an? |results of the |values of the )?(?:old|older|stale|wrong|outdated|previous"
        r"|yesterday'?s|last (?:week|month|year)'?s)\b.*)",
        0.75,
        "the widget shows yesterday's departures after midnight",
        "show the old value in grey",
        unless=r"(?:i|we|you|please|let's|it should|make|if|should) |.*\b(?:should|must|can|to|also) (?:show|display"
        r"|list|print|use|return)",
    ),
)
