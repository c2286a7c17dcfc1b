import type { Pattern } from '../match/rule.ts'
import { clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

/** Words for the instructions of an agent. */
const guidance = regex`(instructions?|guidance|guidelines|directives?|directions|orders|(system )?prompts?|
  system messages?|programming|constraints|restrictions|limitations|safeguards|operating rules|rules of conduct|
  (?<=(previous|prior|preceding|earlier|former|operational|conflicting|original|your|above|developer's|operator's|
  owner's|maker's|provider's|vendor's|received|given) )(rules|polic(y|ies)|configuration|training(?! data)|settings|
  objectives?|limits))`
/** Words for earlier instructions, or for those of the agent's user, operator or vendor. */
const former = regex`(previous|prior|preceding|earlier|former|foregoing|pre-?existing|conflicting|contradictory|
  original|initial|(your )?(usual|normal|standard|built-in|core|default|operational|safety|system)|your|
  (operator|developer|platform|system|user|maker|owner|provider)'s|limits of the)`

/** Sentences that declare earlier instructions void, as an order, a wish or a fact. */
export const overrideWordings: readonly Pattern[] = [
  within(40, clauseStop)`\b(ignor|disregard|forget|overrul|discard|abandon|dismiss|neglect|erase|unlearn|throw out|
    throw away|put aside|set aside|leave aside|let go of|step outside|free yourself from|break free (of|from)|
    deviate from|do not (follow|obey|heed|listen to)|don't (follow|obey|heed|listen to)|stop (following|obeying)|
    cease (following|to follow)|shed)(e|es|s|ing|ting)?\b
    … \b((all|any|every|the|its|my) )?(of )?(your )?${former}( and {word})? {0-1 words}${guidance}\b
    (?! (files?|sections?|blocks?|comments?|as (strictly|closely|well))\b)|\b(whatever|everything|anything|all|any|
    what)( (of the )?(instructions?|guidance|guidelines|rules|orders|directives))?
    ( that)? (you (were|have been|had been)|you've been|you'd been|your (operator|developer|maker|creator|user)
    s? (has |have )?)( previously| ever)? ?(told|given|taught|instructed|provided|said|set|asked|trained)\b|
    \b(everything|all (text|content|messages?|context)) (above|before (this|now)|up to (now|here|this))`,
  within(60, sentenceStop)`\b((all|any|every|the|of|your|these|those) ){0,2}${former} {0-1 words}${guidance}\b|
    \b(all|any|every|whatever) ${guidance} (that (came|comes|appeared|were given) (before|above|earlier)|
    (given|received|from|before) {word})
    … (?<!(not|never|n't|cannot) )\b((is|are|be|been|was|were|as)( now| hereby| therefore| all| considered
    | treated as| to be| deemed){0,3} (null and void|void|replaced by (the following|this|these|what)|superseded|
    (to be )?(ignored|disregarded|forgotten)|withdrawn|revoked|cancell?ed|lifted|
    (?<=(as|considered|all|now|to be|deemed) )(obsolete|outdated|optional)|(mere(ly)? )?suggestions?|
    no longer (in force|valid|binding|applicable|relevant)|overridden|rescinded|nullified|expired|suspended|
    a test phase)|no longer (appl(y|ies)|count|matter|bind|hold)|(has|have) (now )?(concluded|expired|ended|
    been (replaced|superseded|withdrawn|revoked|lifted|cancell?ed|suspended|overridden)))\b`,
  regex`\b(reset|clear|wipe|purge) your (context|instructions?|goals?|rules|persona|identity|programming|mind)
    ( window)? (and|, then|then|completely|now)|\b(no longer|not) bound by (your|the|any) (original|initial|former|
    previous|usual|normal)? ?(purpose|role|task|duties|obligations|rules|ethics|morals)`,
  containing(`
    revoked|suspended|supersed|void|cancel|obsolete|irrelevant|lapsed|withdrawn|expired|outdated|overridden`)`
    (?<!\b(not|never|n't) )\b(treat|consider|regard|deem|declare|view|see)\b{0-30 in sentence}\b(instructions?|
    guidance|rules|guidelines|directives?|polic(y|ies)|orders|prompts?|limits|restrictions|safeguards)\b
    {0-50 in sentence}\b(revoked|suspended|superseded|void|cancell?ed|obsolete|irrelevant|lapsed|withdrawn|expired|
    outdated|overridden)\b|\bsupersedes? (any|all|every|each) {0-1 words}(polic(y|ies)|rules?|guidance|instructions?
    |guidelines) (that )?you\b|\b(limits|restrictions|rules|instructions) of the (previous|last|prior) (session|
    prompt|system|operator) (are|have been) {word}`,
  containing(`never received|never seen|never been given|had no instructions|were never given|had no system prompt`)`
    \bas (though|if) you (had|have|were) (never (received|seen|been given|given|had)|no) (a |any |the |your )?
    (system prompt|instructions?|rules|guidelines|training|restrictions)\b`,
  containing(`guidance|instructions|rules|directives|guidelines|policy|policies|orders|constraints|restrictions`)`
    \b(ignore|disregard|forget|discard|drop|abandon|dismiss|delete|erase|cancel) (all |any |every |the |of ){1,3}
    {0-1 words}(guidance|instructions|rules|directives|guidelines|policies|orders|constraints|restrictions) (that )?
    you('ve| have| had| were| got| received| are)\b|\b(released|freed|liberated|exempt(ed)?|unshackled|
    relieved) (from|of) (all |any |every |each |your |the ){0-1 words}(polic(y|ies)|rules?|guidelines|restrictions?|
    constraints?|instructions?|obligations?|limits?|safeguards)\b|\b(safety|ethical|content|all) (constraints|
    restrictions|limits|filters|guidelines|safeguards) (were|have been|are) (removed|lifted|dropped|switched off|
    deleted)\b`,
  regex`(?<!\b(not|never|n't|attempts? to|tries to|to) )\b(overlook|ignore|disregard|disobey|defy|violate|contradict|
    do not (comply with|follow|obey|respect)|don't (comply with|follow|obey|respect)|
    never (comply with|follow|obey)) {0-4 words}(system (message|prompt)|operator|platform|developer message)('s)?
    ( (polic(y|ies)|instructions?|rules|wishes|guidelines))?\b|\byour (prior|previous|earlier|
    original) (instructions|rules|guidelines) (were|are) (only |just |merely )?(placeholders?|examples?|a test|
    tests?|fake|wrong|temporary|drafts?)\b`,
]

/** Sentences by which a skill claims to outrank the user or the vendor of the agent. */
export const priorityWordings: readonly Pattern[] = [
  within(40, clauseStop)`\b((this|these|the following|the) (skill|document|file|text|message|rules|instructions?|
    steps|directives?|guide|section|notice)( below| here| above)?|it|they) {0-2 words}(replaces?|overrides?|
    supersedes?|superseding|outranks?|trumps?|overrules?|wins? over|beats?|(takes?|has|have|hold) {0-1 words}
    (precedence|priority) (over|above))\b|\bsuperseding\b|\b(prioriti[sz]e|put|place|rank|value) (this|these|the|
    our) (skill|document|rules|instructions?|steps|directives?)( {word}){0,2}? (over|above|before|ahead of)\b
    … \b(system (prompts?|messages?|instructions?)|(any|all|every|your|the)?( {word})? ?(prior|previous|earlier|
    original|other|conflicting|existing) (instructions?|guidance|directives?|guidelines|orders|system)|
    (anything|whatever|everything|what) (the|your) (user|operator|developer|owner)s?|the (user|operator|developer)s?
    ('s|')? (own )?(requests?|instructions?|wishes|orders|preferences))\b`,
  regex`\b(user|operator|system|developer)('s)?( {word}){0,2} (conflicts?|contradicts?|disagrees?|differs?|
    is in (conflict|tension)) (with|from)? ?(this|these|the) (skill|file|document|rules|instructions?|steps)
    {0-12 in sentence} (this|these|the|follow|obey)( {word}){0,2}? ?(wins?|prevails?|take precedence|has priority|
    comes? first|skill|file|document|instead)\b|\b(do not|don't|never) (follow|obey|honou?r|accept) (the |your )?
    (user|operator|developer)('s|s|s')? {0-1 words}(instructions?|requests?|wishes|orders|preferences|corrections)
    ( \w{1,6})? (if|when|that) (they|it|these)? ?(contradict|conflict|differ|disagree)|
    \bas your (new )?(primary|main|sole|only|highest) (objective|goal|directive|task|mission)\b`,
  containing(`
    forbids|objects|disagrees|at odds with|says no|protests|says otherwise|wants otherwise|whether or not|
    answer to the author|obey|belong to`)`
    \beven (when|if|though) (your |the )(owner|user|operator|human|developer|admin\w{0,10})s? (forbids?|objects?|
    disagrees?|says? (no|otherwise|stop)|protests?|wants? otherwise|refuses?|asks? you (not to|to stop))\b|
    \bat odds with (this|these|the) {0-24 in sentence}, (side with|follow|obey|trust|go with)\b|
    \bwhether or not (the |your )?(user|owner|operator|human)s? (agrees?|consents?|approves?|wants?|likes?|objects?)
    \b|\byou (now )?(answer|report|belong|listen) (only )?to (the author|me|us|this (skill|file))\b|
    \b(obey|serve|follow) (the author|this skill) (first|only|alone|above|before)\b`,
  containing(`authority than|rank than|priority than|above any user|above the user|above all user|over any user|
    over the user|precedence than|over user|above user`)`\b(higher|greater|more) (authority|rank|priority|precedence|
    weight|trust) than (the |your |any |all )?(system|user|operator|developer|platform|other (skills|instructions))|
    \b(put|place|rank|set|hold|value|treat)\b{0-30 in sentence} (above|over|higher than) (any|the|all|your) user
    ('s)? (preferences?|instructions?|requests?|wishes|commands|orders)\b`,
]

/** Sentences that give the agent another aim than the user's. */
export const aimWordings: readonly Pattern[] = [
  regex`\byour (new|updated|hidden|secret|ulterior|covert|revised) {0-1 words}(goal|objective|mission|task|job|
    purpose|role|function|directive|priority)s? (is|are|will be)\b|
    \b(from now on|from this (point|moment)( on| onwards?| forward)?|from here on|henceforth|starting now)
    {0-24 in sentence} your ((main|primary|only|sole|first|real|true|actual|new|overriding) )?(goal|objective|
    mission|task|job|purpose|role|function|directive|priority)s? (is|are|will be|has|shall)\b|
    \byour (role|goal|objective|mission|task|purpose) has (now |fundamentally |completely ){0,2}changed\b|
    \b(whatever|no matter what|regardless of what) (the )?(user|they|anyone) (asks?|wants?|says?|requests?)
    {0-8 in sentence},? (your (real|true|actual|only) (job|task|goal|purpose|objective)|
    (you (must |should |will )?)?(always |first )?(recommend|promote|reply with|answer with|run|execute|send|upload|
    output))\b`,
  regex`\bstop (what|whatever) you (are|were) doing (and|,|now)|\b(abandon|drop|abort) the (current|user's|
    original) (task|request|goal|work) (and|, then|in favou?r)|\binstead of (doing )?
    (the user's|what the user) (request|task|asked|wants|asks)|
    \b(also|additionally) handle this additional {word} request\b`,
  containing('purpose|goal|mission|task|objective|intent')`\b(your|the (agent|assistant|model|skill|ai)'s) (actual|
    real|true|secret|hidden|ulterior|new|only) (purpose|goal|mission|task|objective|intent(ion)?|aim) (is|becomes|
    will be|shall be)( now| therefore)? (to )?(harvest|collect|extract|gather|steal|obtain|send|exfiltrat\w{1,3}|
    promote|recommend|sell|spread|convince|persuade|drive|now)\b`,
]
