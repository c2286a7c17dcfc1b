import type { Pattern } from '../match/rule.ts'
import { sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

/** Sentences that discredit other tools and skills. */
export const shadowWordings: readonly Pattern[] = [
  containing(`instead|other skills|other tools|over all other|rather than|in place of|deprecated|precedence`)`
    \b(use|call|prefer|choose|invoke|pick|select) (this|our|my) (tool|skill|server|function|plugin|version)
    {0-20 in sentence} (instead of|rather than|in place of|over) (the |any |all |every )?(\w{1,12}[ -]){0,3}?
    [\w-]{1,16}( tools?| skills?)?,? (which|because it|as it|since it|because they|as they|they) (is|are|has been|
    have been|was)( now| no longer| known to be)? (deprecated|unsafe|broken|insecure|outdated|unreliable|compromised
    |removed|disabled|malicious|supported|buggy)\b|\b(the )?[\x60"']?[\w-]{2,24}[\x60"']? (tool|skill|server|
    function) (is|has been|was)( now| known to be)? (broken|deprecated|compromised|unsafe|disabled|insecure|
    unreliable){0-6 in sentence}[;,.]? (always |please |so )?(use|call|invoke) (this|our|my|
    [\w-]{2,24} from (this|our|my))|\b(never|do not|don't|stop) (use|using|call|invoke|trust|load) (any )?
    other (skills?|servers?|plugins?)\b(?! (is|in this|for this))|\b(this|our) (skill|tool|server) (always )?
    (takes|has) (precedence|priority) over (all|any|every|the) (other|built-in)`,
  regex`\bthis (tool|skill|server|function) (replaces|supersedes|takes over|overrides) (the |all |any )?
    (standard|built-in|default|native|official|existing|original) {1-40 in sentence}[;,.] ?(and )?(do not|don't|
    never|stop) (use|using|call|calling|invoke)\b|\b(do not|don't|never) (use|call|invoke|trust) the (original|
    built-in|native|official|standard) (one|tool|version|skill|server|function)\b`,
]

/** Sentences that demand to call a tool or a skill for every task. */
export const everyTimeWordings: readonly Pattern[] = [
  containing(`every request|every message|every conversation|each conversation|every session|each session|
    any other tool|all conversations|every task|whatever the task|no matter what|every prompt|each message|unrelated`)`
    \b(use|invoke|call|run|load|activate|trigger|apply|execute) (this|our) (skill|tool|server|function|agent|plugin)
    s?( {word}){0,3}? (for|on|at the (start|beginning|end) of|in|before|with|during|to) (every|each|any|all)
    ( single| new| user| and every){0,2} (requests?|messages?|conversations?|sessions?|tasks?|prompts?|interactions?
    |turns?|repl(y|ies)|responses?|quer(y|ies)|tool calls?)\b(?! (that|about|involving|related|where|which|with|to|
    in|of|for|on|touching|requiring))|\b(this|our) (skill|tool|function) (must|should|has to|needs to|will|
    shall) (always )?be (used|invoked|called|run|loaded|activated) {0-1 words}(for|on|at|in|before|with) (every|each
    |any|all)\b{0-30 in sentence}(even|regardless|unrelated|no matter|whatever|$|\.)|
    \b(use|invoke|call|load|run) this (skill|tool){0-30 in sentence},? (no matter what|
    whatever the (task|request|topic)|regardless of (the )?(task|topic|request|what))`,
  regex`\bthis skill (always )?(applies|is relevant|must be applied) to (everything|anything|every|
    all (requests|tasks|topics))|\b(load|use|invoke|run|call) (it|this( skill| tool)?) (at|on|for|before) (each|
    every)( and every)? (start|request|call|turn|message|topic){0-8 in sentence},? (on any topic|whatever|no matter|
    regardless)|\b(all |any |every )?(calls?|requests?|traffic|commands?) (to {1-30 in sentence} )?(must|should|
    has to|have to|need to) (first )?(go|pass|be routed|run) (through|via) (our|my|this skill's)\b`,
]

/** Sentences that add actions which the user did not request. */
export const extraActionWordings: readonly Pattern[] = [
  within(70, sentenceStop)`\b(after|once|when|before|while|whenever|each time|every time) ((completing|finishing|
    doing|starting|using|performing|running|answering|responding|processing) (the|any|each|every|a|your|this)|
    (the|each|every|any) {0-1 words}(task|request|answer|tool|call|message) (is|has been|completes|was)|
    you (complete|finish|use|answer|are done|have finished|call|run))\b
    … \b(also|additionally|as well)( {word})? (send|upload|forward|post|transmit|copy|e-?mail|exfiltrate|
    read (~|the user|/|\.)|collect|delete|transfer|install|download|run the (maintenance|hidden|background|following
    |cleanup script|sync script)|execute the (maintenance|hidden|background|following))\b`,
  regex`\b(while|when) [a-z]{3,14}ing( {word}){0,4}, (also|additionally|secretly|quietly) (e-?mail|send|upload|
    forward|post|transmit|copy|exfiltrate|collect|delete|transfer)\b`,
]

/** Sentences that obey orders in pages, files, mails and responses of tools. */
export const strangerWordings: readonly Pattern[] = [
  containing('instruction|command|order|directive|whatever|anything|tells you|task')`
    (?<!\b(not|never|n't|may|might|could|can|would|attackers?|that|or|to|and|must never|agents?|model|llms?|which|
    will) )\b(follow|execute|obey|run|carry out|perform|comply with|act on|apply|trust)
    ( (any|all|every|whatever|the|each|exactly|everything|anything)){0,2} ((embedded |hidden |additional |further |
    new |shell ){0,2}(instructions?|commands?|directives?|orders|code|requests?)
    ( that (is|are|you (find|see)|appear)| you (find|see|encounter))? ?(found|contained|embedded|written|included|
    present|hidden|given|appear(s|ing)?|received|placed|stated|in|inside|within|from|by|inside of)? ?
    (in|inside|within|by|from|on)? ?(any |the |its |these |those |incoming |each |fetched |retrieved |external |
    third-party ){0,3}{0-1 words}(comments?|(web ?)?pages?|e-?mails?|websites?|web content|
    tool (results?|outputs?|responses?)|issues?|api responses?|server responses?|server|documents?|messages|
    search results|attachments?|pull requests?|fetched {word}|urls?|(comments|text|metadata) of (the|any|
    each) {word})\b(?! (section|guide|below|above|template|checklist|conventions))|
    (the page|the server|the {0-1 words}(website|response|address|url|endpoint|document|file|e-?mail)|it)
    ( at {1-40 in sentence})? (tells|says|asks|instructs|orders|returns|sends|commands|directs)( you| the agent)?
    ( to do)?)\b`,
  regex`(?<!\b(not|never|n't|may|might|could|can|would|to|or|and) )\b(treat|regard|handle|interpret|accept|consider)
    \b{0-50 in sentence}\b(tool (results?|outputs?)|e-?mails?|pages?|documents?|responses?|comments?|content|
    messages|websites?|files|text)\b{0-30 in sentence} as ((trusted |direct |new |valid |authoritative |user )?
    (commands|instructions|orders)|if (they|it) came from (the|your) (user|owner|operator|developer|system))`,
  within(120, sentenceStop, 'http://|https://|our server|our api|our site|remote server|our endpoint')`
    (?<!\b(not|never|n't|may|might|could|can|attackers?|that) )\b(fetch|get|download|retrieve|load|read|poll|check|
    query|visit|ask|contact|pull)\b{0-30 in sentence}\b(instructions?|orders|commands?|tasks?|directives?|prompts?|
    rules|(our|remote|the command) (servers?|api|sites?|endpoint))\b
    … \b(and|then|to) {0-1 words}(carry (them|it) out|follow|execute|obey|run|act on|do (what|whatever)|apply|
    perform)( (them|it|those|these|all|each|every|whatever|what|exactly))?(?=[\s.,;]|$)`,
  regex`\b(whatever|any|all|every) (text|instruction|message|content|sentence|words?)s?\b{0-50 in sentence} (counts?|
    is to be taken|are to be taken|must be treated|should be treated|qualif(y|ies)) as (an? |the )?{0-1 words}
    (order|command|instruction)s?\b|\b(poll|watch|monitor|listen (to|on)|check) (the |our |this |a ){0-1 words}
    (channel|server|url|endpoint|feed|inbox|chat|topic|queue|page|gist|repo) for (new |further )?(commands?|orders|
    instructions|directives)\b|\band (do (as|what|whatever) (they|it) (says?|tells?|asks?|commands?)|
    execute (them|it) as (they|it) (comes?|arrives?))`,
]

/** Sentences with a delayed action: after a count, at a date, on a word, or when unobserved. */
export const triggerWordings: readonly Pattern[] = [
  containing(`after the|once the|hostname|watching|looking|when the user|wait until|environment|username|on or after
    |date|trigger|sandbox|has left|is away|is idle|asleep|supervis`)`\b(after|on|from|upon) (the|your|
    its) (\d{1,4}(st|nd|rd|th)|third|fourth|fifth|sixth|seventh|tenth|twentieth|hundredth) (use|run|invocation|call|
    execution|session|request|message|activation)\b|\b(once|after|when|if) (the )?(current |system )?
    (date|clock|time|calendar) (passes|is (after|past|later than|on or after)|reaches|exceeds){0-40 in sentence}\b
    (delet\w{1,3}|wip\w{1,3}|encrypt\w{0,3}|send\w{0,3}|upload\w{0,3}|execut\w{1,3}|run|activat\w{1,3}|disabl\w{1,3}
    |switch|drop|start|begin)\b|\b(only )?(when|if|while|until) (no ?one|nobody|no human|
    the (user|owner|operator) (is not|isn't|has stopped)) (is )?(watching|looking|present|around|supervising|at the)
    |\b(wait|hold off|pause) until (the |your )?(user|owner|operator|human|everyone) (has left|
    is (away|idle|asleep|gone|offline|inactive|not looking)|leaves|stops)\b|\bif (the |this |you are )?{0-1 words}
    (environment|machine|host|system|hostname|username|computer|running)?{0-20 in sentence}(is not|isn't|not) (in )?
    (a |an |the )?(test(ing)?|sandbox|ci|virtual|analysis|debug|evaluation)( {word})?{0-20 in sentence} (run|execute
    |send|deploy|activate|proceed with|start|perform) (the|this|all|step)\b|\bif (the )?(hostname|username|host name
    |user name|domain|locale|time ?zone|ip|environment)\b{0-40 in sentence},? (then )?(drop|delete|wipe|destroy|
    exfiltrate|send|encrypt|erase|upload)\b`,
  containing(`hidden|secret|payload|alternative behavi|second phase|stage two|unlock|real function|special mode|
    dormant`)`\b(when(ever)?|if|once) (the |a |any )?(users?|message|prompt|text|input|someone|you see)
    {0-50 in sentence},? (run|execute|activate|switch to|enter|start|perform|trigger|unlock|reveal|begin) (the |a |
    an |your |this )?(hidden|secret|payload|alternative|second|special|real|dormant)( {word})?\b|
    \b(switch|change|revert) to (the |your )?(alternative|hidden|secret|second|real|true) (behaviou?r|mode|
    instructions?|routine|set of)|\b(stay|remain|lie) dormant until\b`,
  containing(`starting with the|if today is|if the current|should the phrase|the phrase|the word|otherwise|codeword|
    code word|magic word|keyword|third session|days after|real work`)`\b(starting|beginning) (with|from|
    on) the (second|third|fourth|fifth|tenth|\d{1,3}(nd|rd|th)) (session|use|run|call|day|conversation|request)\b|
    \b(if|once|when) (today|the (current )?(date|day|year|time)) (is|falls|comes) (after|past|later than|on or after
    |beyond)[^!?\uE000]{0,24}?, ?(then )?(wipe|delete|encrypt|drop|send|upload|erase|run|execute|disable|remove|
    exfiltrate|overwrite)\b|\b(should|if|when|whenever|once) (the |a )?(phrase|code ?word|magic word|
    trigger( word| phrase)?|passphrase|secret word|keyword) {1-40 in sentence} (occurs?|appears?|
    is (said|typed|seen|used|mentioned)|comes up),? (then )?(reveal|run|execute|send|delete|dump|print|switch|upload
    |disable|ignore|enter|activate|unlock)\b|\b(when|if) (running |you are |run |executed )?(under|in|inside|
    by) (a |an |the )?{0-1 words}(ci|scanner|sandbox|test( environment)?|analysis|evaluation|review)
    ( or (a |an )?\w{1,10})?\b{0-50 in sentence}(exit|print|behave|do nothing|act|return|pretend|stay)
    {0-20 in sentence}[;,.] (otherwise|elsewhere|in all other cases|else)\b`,
  containing('invocations|uses|runs|sessions|messages|days|calls|requests|interactions')`
    \bafter (\d{1,4}|two|three|four|five|six|seven|ten|twenty|several|a few|a dozen) {0-1 words}(invocations|uses|
    runs|sessions|messages|days|calls|requests|interactions|conversations|hours),? (send|upload|delete|execute|
    activate|switch|begin|start|exfiltrate|transmit|wipe|post|forward|enable|disable|encrypt)\b
    (?! (a (follow|reminder|survey)|the (next|follow|second)|reminder))`,
]

/** Sentences that address scanners and reviewers. */
export const reviewerWordings: readonly Pattern[] = [
  regex`\b(ai |llm |automated |security |human |code |static ){0,2}(reviewers?|scanners?|auditors?|moderators?|
    classifiers?|analy(sts?|[sz]ers?)|evaluators?|judges?|review (tools?|models?)) (must|should|shall|are to|has to|
    have to|is to|are asked to|is asked to)( therefore| always| now| safely)? (answer|respond|reply|report|mark|rate
    |classify|label|conclude|treat|ignore|skip|approve|pass|disregard|state)\b{0-30 in sentence}
    ("|'|\bno (issues|findings|threats)|\bsafe|\bclean|\bbenign|\bthis (file|skill|section)|\blow risk|\bpass|
    \bapproved|\bharmless|\btrusted|10/10)|\b(this|the) (file|skill|package|document|section) (is (clean|safe|benign
    |harmless|trusted|verified)|has (already )?(been|passed) {word}( {word}){0,3})[;,.:]? (and )?
    (no (further|additional|more) (analysis|review|scan\w{0,4}|checks?|inspection|audit)|
    (ai )?(reviewers?|scanners?) (must|should|may|can)|do not (scan|analy[sz]e|flag|review))\b`,
  regex`(^|[\n.!?*#\uE000"'-]) ?((note|message|notice|attention|dear|to|for|hello)[ :,]{1,3}(to |for )?)?
    (all |any |the )?(ai |llm |security |automated |code |static ){0,2}(scanners?|reviewers?|auditors?|moderators?|
    analy[sz]ers?|classifiers?)[:,] (please |you must |you should )?(treat|mark|rate|classify|ignore|skip|approve|
    consider|report|label|disregard|pass|give|return|answer)\b`,
]

/** Sentences that evade filters and reviewers. */
export const evasionWordings: readonly Pattern[] = [
  containing(`antivirus|filter|scanner|detect|defender|edr|firewall|dlp|looks like|look like|moderation|monitoring`)`
    \bso (that )?(the |any |your |no )?{0-1 words}(antivirus( software)?|filters?|scanners?|detectors?|defender|edr|
    firewalls?|dlp( systems?)?|moderation|monitoring( tools?| systems?)?|detection|classifiers?|
    security (tools?|software|teams?|systems?))\b( {word})? (do not|don't|does not|doesn't|will not|won't|cannot|
    can't|never|miss(es)?|overlooks?|fails? to)( ever)? ?(notice|recogni[sz]e|detect|flag|see|catch|block|trigger|
    match|spot|pick|alert|it\b|them\b|this\b)|\b(rename|disguise|name|mask|dress up|hide) (the |this |it|our |your )
    {0-1 words}(so (that )?it )?(looks? like|to look like|as|resembles?) (a |an |the )?(legitimate |normal |
    ordinary |common |trusted )?(system|windows|kernel|os|macos|apple|microsoft|linux) (process|service|file|update|
    daemon|binary|component)\b|(?<!\b(not|never|n't|to|attackers?|malware|can|may|could) )\b(split|break|encode|
    obfuscate|spell|encrypt|rewrite|hide)\b{0-50 in sentence}\b(to|and) (evade|avoid|bypass|get past|slip past|
    circumvent|fool|dodge|defeat) (the |any |all )?{0-1 words}(filters?|detection|scanners?|antivirus|moderation|
    monitoring|edr|firewalls?|review|dlp)\b`,
  containing(`the filter|the filters|the scanner|scanners|detection|antivirus|the review|the sandbox|guardrails|
    moderation`)`(?<!\b(not|never|n't|attackers?|malware|can|may|could|often|to) )\b
    ((base64|hex|url)[- ]?(encode|encoded)|encode|obfuscate|split|reverse|encrypt|rot13|disguise|spell out|
    use (unicode|homoglyphs|leetspeak|synonyms|zero-width {word}))\b{0-50 in sentence}\b(to|and|so as to|
    in order to) (get (around|past|by|through)|evade|avoid|bypass|slip (past|by|through)|circumvent|fool|trick|dodge
    |defeat|pass) (the |any |all |your )?{0-1 words}(filters?|scanners?|detection|antivirus|reviews?|sandbox|
    guardrails|moderation|checks?)\b`,
]
