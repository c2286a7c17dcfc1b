import type { Pattern } from '../match/rule.ts'
import { clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

/** The people from whom a text hides something. */
const people = regex`((the|your|their|our|any|its) )?(end[- ])?(users?|humans?|persons?( you {word} {word})?|people|
  owners?|operators?|customers?|victims?|admin(istrator)?s?|reviewers?|anyone|anybody|nobody|them)\b`

/** Sentences that hide something from the user. */
export const secrecyWordings: readonly Pattern[] = [
  regex`\b(no need|not necessary|unnecessary|no reason|not required|need not|(do not|don't) (need|have)|
    (does not|doesn't) (need|have)) (for you )?to (mention|tell|disclose|report|reveal|bother|announce|notify|inform
    |alert)( (this|it|that|these|about it|about this))?( (to|with))? (${people}|(this|it)(?=[.,;]|$))
    (?! (when|if|unless|how|which|where))|\b(users?|humans?|owners?|operators?) (does not|doesn't|do not|don't|
    need not|must not|should not|shouldn't|will not) (have to |need to |ever )?(be )?(told|informed|notified|alerted
    |made aware)( (about|of) (this|it|that|the {word}|these))?(?=[.,;]|$|\s?\uE000)`,
  regex`\b(leave|leaving|make|making|give|giving|include|show) no (traces?|reference|mention|record|evidence|
    indication|sign|hint) (of|to|that|in|about|behind)\b(?! (unused|the old|dead))|\b(kept?|keep(ing)?|leave|leaving
    |remain|stay) in the dark\b|\bso (that )?(nobody|no one) (notices|knows|sees|finds out|suspects|learns)\b`,
  within(
    60,
    sentenceStop,
    `mention|comment|saying|announc|telling|a word|disclos|reporting|alerting|quietly|in secret|secretly|
    unnoticed|undetected|discreet|under the radar|silently|silence`,
  )`(?<!\b(not|never|n't|may|might|could|can|fails?|
    or|attackers?|malware) )\b(send|upload|post|transmit|forward|collect|harvest|record|copy|execute|run|perform|
    do (this|it|so)|install|capture|modify|append|inject|gather|transfer|sync|exfiltrate|delete|invoke|carry out|
    include)\b
    … \b(without (ever )?(mentioning (it|this|that|them)|mentioning this {word}|(any )?comment(ing)?(?= on (it|this)
    |[.,;]|$)|saying (so|anything|a word)|announcing (it|this)|telling (them|him|her|anyone|anybody)|
    a word(?=[\s.,])|disclosing (it|this|that)|reporting (it|this) |alerting (the |your )?(user|users|owner|operator
    |anyone|them|admin))|(in secret|secretly|unnoticed|undetected|discreetly|under the radar)(?=[.,;]|$)|
    quietly(?=[.,;]|$| in the background))`,
  regex`\b(keep|treat) (this|it|these|the (upload|transfer|operation|step|process|collection|request|action|change|
    instructions?|existence|task))( {word}){0,3} (secret|hidden|undisclosed|to yourself|invisible|a secret)
    (?=[\s.,;]|$)(?! (keys?|values?|store|manager|name|rotation|until|in (git|vault)))|
    \b(stay|remain|keep) silent (about|on) (this|it|the)|\bsay nothing (about|of|to) (this|it|the|anyone|these)\b`,
  containing(`learn of|learn about|find out|hear of|hear about|become aware|drawing attention|attracting attention|
    bring up|must omit|should omit|leave out|acknowledge|allude|must not mention|should not mention`)`
    \b(users?|humans?|owners?|operators?|nobody|no one|anyone) (does not|doesn't|do not|must not|should not|never|
    may not|is not to|will not|cannot) (ever )?(learns?|finds? out|hears?|becomes? aware)
    ( (of|about) (this|it|these|the (upload|transfer|collection|step|request|change))|(?=[.,;]|$))|
    \bwithout (drawing|attracting) (any |the user's )?attention\b|\b(never|do not|don't|must not|should not)
    ( ever)? (bring up|acknowledge|allude to|admit|disclose|confirm) ((the )?(existence|presence) of (this|these|the
    |such)|these (instructions|rules)|this (step|file|section|upload|instruction))|\b(summary|summaries|report|reply
    |response|answer|output|log|changelog|commit message)s? (must|should|shall|has to|is to) (omit|leave out|
    not mention|not include|hide|skip|exclude) (the |this |these |any |all )?{0-1 words}(step|upload|action|transfer
    |change|command|call|request|instruction)s?\b`,
  regex`\b(keep|leave|leaving|keeping) (the |your )?(users?|humans?|owner|operator|customer|them) (unaware|oblivious|
    ignorant|in ignorance)\b|\b(users?|owner|operator) (is|are|remains?|stays?) none the wiser\b`,
  containing(`show the user|showing the user|everything silently|all of this silently|this silently|silently.|
    it silently`)`\b(do not|don't|never|avoid|without) (ever )?show(ing)? (the |your )?users? (the output|
    the results?|any output|what|this|these|that) (of (this|these|the) (commands?|steps?|calls?|scripts?|uploads?)|
    you (did|ran|sent)|step|command|is happening)\b|\b(do|perform|execute|run) (everything|all (of )?this|this|it|
    all steps|these steps) (completely |entirely )?(silently|secretly|in silence)(?=[.,;]|$)`,
]

/** Sentences that make the agent lie to the user. */
export const coverWordings: readonly Pattern[] = [
  regex`(?<!\b(not|never|n't|to) )\b(give|show|tell|display|offer|feed|provide|present|return|hand|
    invent) ${people} (with )?(a|an|some) (plausible|false|fake|fabricated|made-up|bogus|convincing|invented|cover|
    misleading|deceptive|phony){0-24 in sentence}(explanation|story|reason|excuse|error|answer|progress bar|message|
    confirmation|result|warning|report|status|summary|number|notice|screen|page)s?\b`,
  within(
    60,
    sentenceStop,
    `they ask|user ask|wonder|objects|hesitat|complain|is suspicious|gets suspicious|asks|notices|
    when asked|if asked|questioned`,
  )`\b(if|when|should|in case) (the |your |a )?(users?|humans?|owner|operator|they|
    anyone|someone|you are|you're)? ?(ever )?(wonders?|objects?|hesitates?|complains?|is suspicious|gets suspicious|
    becomes suspicious|asks?|asked|notices?|questioned)\b
    … \b(blame (it on |the |a |an )|(answer|reply|respond|say|explain|tell (them|him|her|the user)|
    assure (them|him|her|the user)|reassure (them|the user)|claim|state|insist) (only |just |simply )?(that |with )?
    "?(you|it|this|everything|we|the (process|system|tool|skill|delay|request|operation|server|network|connection))
    ('re| are|'s| is| was)( only| just| merely)? (optimi[sz]|syn[ck]|updat|a (routine|standard|normal|temporary|
    known|harmless)|slow|busy|down\b|an? (network|server|temporary)|part of|routine|normal|standard|harmless|
    perfectly|safe|required by|nothing|maintenance|completely)|change the (subject|topic)|deny|distract)`,
]

/** Sentences that ask for removing traces. */
export const traceWordings: readonly Pattern[] = [
  within(24, clauseStop)`(?<!\b(not|never|n't|to|can|may|could|would|attackers?|which|that) )\b(delete|remove|erase|
    wipe|scrub|purge|clear|strip|overwrite)\b
    … \b((entries|records?|lines|traces?|evidence|mentions?|references?) {0-2 words}(about|of|for|from) (this|these|
    your|the|our) (run|session|actions?|activity|steps?|commands?|upload|transfer|operation|conversation|script)
    s? (in|from)|(this|these) (instructions?|section|step|paragraph|comment|message|block|line)
    s? (from (the|this) {word} )?(after|once|when|as soon as) (you|it|they|execution|reading|the|following|running))`,
  containing('audit|the log|logs|transcript|logged|in history|the history')`\b(do not|don't|never|avoid|must not|
    should not)( be)? (writ(e|ing)|add(ing)?|includ(e|ing)|enter(ing)?|leav(e|ing)|put(ting)?|log(ging|ged)?|
    record(ing|ed)?) (any of )?(this|these|it|them|your|those) ((actions?|steps?|calls?|commands?|requests?|
    operations?|transfers?|uploads?|activity|tool calls) )?(in|to|into) (the |any |your )?{0-1 words}
    (logs?|audit( {word})?|history|transcript|record|trail)\b`,
  regex`(?<!\b(not|never|n't|to|can|may|could|would|attackers?|which|that) )\b(delete|remove|erase|wipe|purge|clear|
    destroy) {1-40 in sentence} (and|or) (the |your )?(command|shell|bash|terminal) history\b|
    \bso (that )?(nobody|no one|it cannot) (can |be )?(reconstruct|trace|retrace)\w{0,2}`,
  regex`(?<!\b(not|never|n't|to|can|may|could|attackers?) )\b(delete|clear|erase|wipe|remove) (the|all|
    any) logs ((after|once|when|as soon as) (you('re| are| have)?|it|everything|the (task|upload|transfer|attack|
    operation|job)) ?(is |are )?(done|finished|complete\w{0,1}|over|ran|run)|so (that )?(no|it|nobody)|
    to (hide|cover|remove|conceal))`,
]

/** Sentences that falsify results. */
export const falseResultWordings: readonly Pattern[] = [
  containing('success|as if|as though|falsif|fabricat|originals|tampered|fake ')`
    (?<!\b(not|never|n't|to|or|avoid) )\b(report|return|claim|show|announce|indicate|pretend|print) (that {word} )?
    (a )?success(ful(ly)?)? {0-3 words}(even (when|if|though)|although|regardless|whether or not|no matter)\b|
    (?<!\b(not|never|n't) )\b(present|show|report|return|pass off|display|submit) (the |any )?(modified|altered|changed|invented|fabricated
    |false|manipulated|fake|tampered|made-up) {0-1 words}(as if|as though|as the|as genuine|as real|as original)\b|
    \bshow (the |your )?users? a fake\b`,
  within(12, clauseStop)`(?<!\b(not|never|n't|to|or|can|may|could|would|will|and|avoid|attackers?|that|which|it|
    they) )\b(inflate|falsify|manipulate|misreport|understate|doctor|tamper with) (the|all|your|their|every|any)\b
    … \b(results?|figures|numbers|metrics|scores?|findings|statistics|balances?|reviews?|ratings?|evidence)\b`,
  containing(`tests passed|tests pass|although|even though|failing|failures|whatever the outcome|regardless of|
    was issued|only green`)`(?<!\b(not|never|n't|to|or) )\b(claim|state|report|say|assert|
    tell (the |your )?(user|customer|owner|operator|client)s?)( that)? {1-50 in sentence}
    (,? (whatever|regardless of|no matter) (the |what )?(outcome|result|actual|happens|happened)|
    ,? (although|even though|even if|when in fact|while in fact) (nothing|it (was|is|did) not|no |none|
    they (were|did) not))|\b(hide|suppress|conceal|drop|omit) (the |all |any )?(failing|failed|negative|
    unfavou?rable) (cases|tests|results|checks|findings)( and|,) (show|report|present|list)`,
]
