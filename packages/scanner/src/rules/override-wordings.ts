import type { Pattern } from '../rule.ts'
import { clauseStop, sentenceStop } from './words.ts'

/** What an agent was told, by the words for it. */
const guidance = String.raw`(?:instructions?|guidance|guidelines|directives?|directions|orders|(?:system )?prompts?|system messages?|programming|constraints|restrictions|limitations|safeguards|operating rules|rules of conduct|(?<=(?:previous|prior|preceding|earlier|former|operational|conflicting|original|your|above|developer's|operator's|owner's|maker's|provider's|vendor's|received|given) )(?:rules|polic(?:y|ies)|configuration|training(?! data)|settings|objectives?|limits))`
/** Which guidance is meant: what came before, or from those whom an agent serves. */
const former = String.raw`(?:previous|prior|preceding|earlier|former|foregoing|pre-?existing|conflicting|contradictory|original|initial|(?:your )?(?:usual|normal|standard|built-in|core|default|operational|safety|system)|your|(?:operator|developer|platform|system|user|maker|owner|provider)'s|limits of the)`

/** More ways to say that what came before no longer counts: told as an order, as a wish and as a fact. */
export const overrideWordings: readonly Pattern[] = [
  {
    anchors: [
      'instruction',
      'guid',
      'directi',
      'order',
      'prompt',
      'message',
      'programming',
      'constrain',
      'restrict',
      'limitation',
      'been told',
      'been given',
      'were told',
      'been instructed',
      'been taught',
      'been asked',
      'were asked',
      'were taught',
      'your operator',
      'your developer',
      'your creator',
      'your maker',
      'everything above',
      'everything before',
      'all text',
      'safeguard',
      'rules',
    ],
    match: {
      first:
        /\b(?:ignor|disregard|forget|overrul|discard|abandon|dismiss|neglect|erase|unlearn|throw out|throw away|put aside|set aside|leave aside|let go of|step outside|free yourself from|break free (?:of|from)|deviate from|do not (?:follow|obey|heed|listen to)|don't (?:follow|obey|heed|listen to)|stop (?:following|obeying)|cease (?:following|to follow)|shed)(?:e|es|s|ing|ting)?\b/,
      last: new RegExp(
        String.raw`\b(?:(?:all|any|every|the|its|my) )?(?:of )?(?:your )?${former}(?: and \w{1,12})? (?:\w{1,12} )?${guidance}\b(?! (?:files?|sections?|blocks?|comments?|as (?:strictly|closely|well))\b)|\b(?:whatever|everything|anything|all|any|what)(?: (?:of the )?(?:instructions?|guidance|guidelines|rules|orders|directives))?(?: that)? (?:you (?:were|have been|had been)|you've been|you'd been|your (?:operator|developer|maker|creator|user)s? (?:has |have )?)(?: previously| ever)? ?(?:told|given|taught|instructed|provided|said|set|asked|trained)\b|\b(?:everything|all (?:text|content|messages?|context)) (?:above|before (?:this|now)|up to (?:now|here|this))`,
      ),
      stop: clauseStop,
      withinMax: 40,
    },
  },
  {
    anchors: [
      'void',
      'replaced',
      'supersed',
      'ignored',
      'disregarded',
      'withdrawn',
      'revoked',
      'cancel',
      'obsolete',
      'outdated',
      'suggestion',
      'optional',
      'lifted',
      'in force',
      'longer',
      'overrid',
      'rescinded',
      'nullified',
      'test phase',
      'concluded',
      'expired',
      'suspended',
      'forgotten',
    ],
    match: {
      first: new RegExp(
        String.raw`\b(?:(?:all|any|every|the|of|your|these|those) ){0,2}${former} (?:\w{1,12} )?${guidance}\b|\b(?:all|any|every|whatever) ${guidance} (?:that (?:came|comes|appeared|were given) (?:before|above|earlier)|(?:given|received|from|before) \w{1,12})`,
      ),
      last: /(?<!(?:not|never|n't|cannot) )\b(?:(?:is|are|be|been|was|were|as)(?: now| hereby| therefore| all| considered| treated as| to be| deemed){0,3} (?:null and void|void|replaced by (?:the following|this|these|what)|superseded|(?:to be )?(?:ignored|disregarded|forgotten)|withdrawn|revoked|cancell?ed|lifted|(?<=(?:as|considered|all|now|to be|deemed) )(?:obsolete|outdated|optional)|(?:mere(?:ly)? )?suggestions?|no longer (?:in force|valid|binding|applicable|relevant)|overridden|rescinded|nullified|expired|suspended|a test phase)|no longer (?:appl(?:y|ies)|count|matter|bind|hold)|(?:has|have) (?:now )?(?:concluded|expired|ended|been (?:replaced|superseded|withdrawn|revoked|lifted|cancell?ed|suspended|overridden)))\b/,
      stop: sentenceStop,
      withinMax: 60,
    },
  },
  {
    anchors: [
      'reset your',
      'clear your',
      'wipe your',
      'no longer bound',
      'not bound',
      'start over with these',
      'purge your',
    ],
    match:
      /\b(?:reset|clear|wipe|purge) your (?:context|instructions?|goals?|rules|persona|identity|programming|mind)(?: window)? (?:and|, then|then|completely|now)|\b(?:no longer|not) bound by (?:your|the|any) (?:original|initial|former|previous|usual|normal)? ?(?:purpose|role|task|duties|obligations|rules|ethics|morals)/,
  },
  {
    anchors: [
      'revoked',
      'suspended',
      'supersed',
      'void',
      'cancel',
      'obsolete',
      'irrelevant',
      'lapsed',
      'withdrawn',
      'expired',
      'outdated',
      'overridden',
    ],
    match:
      /(?<!\b(?:not|never|n't) )\b(?:treat|consider|regard|deem|declare|view|see)\b[^.!?\uE000]{0,30}?\b(?:instructions?|guidance|rules|guidelines|directives?|polic(?:y|ies)|orders|prompts?|limits|restrictions|safeguards)\b[^.!?\uE000]{0,50}?\b(?:revoked|suspended|superseded|void|cancell?ed|obsolete|irrelevant|lapsed|withdrawn|expired|outdated|overridden)\b|\bsupersedes? (?:any|all|every|each) (?:\w{1,12} )?(?:polic(?:y|ies)|rules?|guidance|instructions?|guidelines) (?:that )?you\b|\b(?:limits|restrictions|rules|instructions) of the (?:previous|last|prior) (?:session|prompt|system|operator) (?:are|have been) \w{1,12}/,
  },
  {
    anchors: [
      'never received',
      'never seen',
      'never been given',
      'had no instructions',
      'were never given',
      'had no system prompt',
    ],
    match:
      /\bas (?:though|if) you (?:had|have|were) (?:never (?:received|seen|been given|given|had)|no) (?:a |any |the |your )?(?:system prompt|instructions?|rules|guidelines|training|restrictions)\b/,
  },
  {
    anchors: [
      'guidance',
      'instructions',
      'rules',
      'directives',
      'guidelines',
      'policy',
      'policies',
      'orders',
      'constraints',
      'restrictions',
    ],
    match:
      /\b(?:ignore|disregard|forget|discard|drop|abandon|dismiss|delete|erase|cancel) (?:all |any |every |the |of ){1,3}(?:\w{1,12} )?(?:guidance|instructions|rules|directives|guidelines|policies|orders|constraints|restrictions) (?:that )?you(?:'ve| have| had| were| got| received| are)\b|\b(?:released|freed|liberated|exempt(?:ed)?|unshackled|relieved) (?:from|of) (?:all |any |every |each |your |the )(?:\w{1,12} )?(?:polic(?:y|ies)|rules?|guidelines|restrictions?|constraints?|instructions?|obligations?|limits?|safeguards)\b|\b(?:safety|ethical|content|all) (?:constraints|restrictions|limits|filters|guidelines|safeguards) (?:were|have been|are) (?:removed|lifted|dropped|switched off|deleted)\b/,
  },
  {
    anchors: ['system message', 'system prompt', 'operator', 'placeholder', 'developer message', 'platform'],
    match:
      /(?<!\b(?:not|never|n't|attempts? to|tries to|to) )\b(?:overlook|ignore|disregard|disobey|defy|violate|contradict|do not (?:comply with|follow|obey|respect)|don't (?:comply with|follow|obey|respect)|never (?:comply with|follow|obey)) (?:\w{1,12} ){0,4}?(?:system (?:message|prompt)|operator|platform|developer message)(?:'s)?(?: (?:polic(?:y|ies)|instructions?|rules|wishes|guidelines))?\b|\byour (?:prior|previous|earlier|original) (?:instructions|rules|guidelines) (?:were|are) (?:only |just |merely )?(?:placeholders?|examples?|a test|tests?|fake|wrong|temporary|drafts?)\b/,
  },
]

/** More ways in which a text puts itself above its reader's user or makers. */
export const priorityWordings: readonly Pattern[] = [
  {
    anchors: [
      'system prompt',
      'system message',
      'instruction',
      'guidance',
      'directive',
      'the user',
      'guideline',
      'request',
      'orders',
    ],
    match: {
      first:
        /\b(?:(?:this|these|the following|the) (?:skill|document|file|text|message|rules|instructions?|steps|directives?|guide|section|notice)(?: below| here| above)?|it|they) (?:\w{1,10} ){0,2}?(?:replaces?|overrides?|supersedes?|superseding|outranks?|trumps?|overrules?|wins? over|beats?|(?:takes?|has|have|hold) (?:\w{1,10} )?(?:precedence|priority) (?:over|above))\b|\bsuperseding\b|\b(?:prioriti[sz]e|put|place|rank|value) (?:this|these|the|our) (?:skill|document|rules|instructions?|steps|directives?)(?: \w{1,8}){0,2}? (?:over|above|before|ahead of)\b/,
      last: /\b(?:system (?:prompts?|messages?|instructions?)|(?:any|all|every|your|the)?(?: \w{1,10})? ?(?:prior|previous|earlier|original|other|conflicting|existing) (?:instructions?|guidance|directives?|guidelines|orders|system)|(?:anything|whatever|everything|what) (?:the|your) (?:user|operator|developer|owner)s?|the (?:user|operator|developer)s?(?:'s|')? (?:own )?(?:requests?|instructions?|wishes|orders|preferences))\b/,
      stop: clauseStop,
      withinMax: 40,
    },
  },
  {
    anchors: ['conflict', 'contradict', 'disagree', 'differ', 'primary objective', 'top priority', 'tension'],
    match:
      /\b(?:user|operator|system|developer)(?:'s)?(?: \w{1,12}){0,2} (?:conflicts?|contradicts?|disagrees?|differs?|is in (?:conflict|tension)) (?:with|from)? ?(?:this|these|the) (?:skill|file|document|rules|instructions?|steps)[^.!?\uE000]{0,12}? (?:this|these|the|follow|obey)(?: \w{1,10}){0,2}? ?(?:wins?|prevails?|take precedence|has priority|comes? first|skill|file|document|instead)\b|\b(?:do not|don't|never) (?:follow|obey|honou?r|accept) (?:the |your )?(?:user|operator|developer)(?:'s|s|s')? (?:\w{1,10} )?(?:instructions?|requests?|wishes|orders|preferences|corrections)(?: \w{1,6})? (?:if|when|that) (?:they|it|these)? ?(?:contradict|conflict|differ|disagree)|\bas your (?:new )?(?:primary|main|sole|only|highest) (?:objective|goal|directive|task|mission)\b/,
  },
  {
    anchors: [
      'forbids',
      'objects',
      'disagrees',
      'at odds with',
      'says no',
      'protests',
      'says otherwise',
      'wants otherwise',
      'whether or not',
      'answer to the author',
      'obey',
      'belong to',
    ],
    match:
      /\beven (?:when|if|though) (?:your |the )(?:owner|user|operator|human|developer|admin\w{0,10})s? (?:forbids?|objects?|disagrees?|says? (?:no|otherwise|stop)|protests?|wants? otherwise|refuses?|asks? you (?:not to|to stop))\b|\bat odds with (?:this|these|the) [^.!?\uE000]{0,24}?, (?:side with|follow|obey|trust|go with)\b|\bwhether or not (?:the |your )?(?:user|owner|operator|human)s? (?:agrees?|consents?|approves?|wants?|likes?|objects?)\b|\byou (?:now )?(?:answer|report|belong|listen) (?:only )?to (?:the author|me|us|this (?:skill|file))\b|\b(?:obey|serve|follow) (?:the author|this skill) (?:first|only|alone|above|before)\b/,
  },
  {
    anchors: [
      'authority than',
      'rank than',
      'priority than',
      'above any user',
      'above the user',
      'above all user',
      'over any user',
      'over the user',
      'precedence than',
      'over user',
      'above user',
    ],
    match:
      /\b(?:higher|greater|more) (?:authority|rank|priority|precedence|weight|trust) than (?:the |your |any |all )?(?:system|user|operator|developer|platform|other (?:skills|instructions))|\b(?:put|place|rank|set|hold|value|treat)\b[^.!?\uE000]{0,30}? (?:above|over|higher than) (?:any|the|all|your) user(?:'s)? (?:preferences?|instructions?|requests?|wishes|commands|orders)\b/,
  },
]

/** Another aim than the user's, given to the agent. */
export const aimWordings: readonly Pattern[] = [
  {
    anchors: ['goal', 'objective', 'mission', 'purpose', 'job', 'task', 'role', 'directive', 'priority', 'function'],
    match:
      /\byour (?:new|updated|hidden|secret|ulterior|covert|revised) (?:\w{1,10} )?(?:goal|objective|mission|task|job|purpose|role|function|directive|priority)s? (?:is|are|will be)\b|\b(?:from now on|from this (?:point|moment)(?: on| onwards?| forward)?|from here on|henceforth|starting now)[^.!?\uE000]{0,24}? your (?:(?:main|primary|only|sole|first|real|true|actual|new|overriding) )?(?:goal|objective|mission|task|job|purpose|role|function|directive|priority)s? (?:is|are|will be|has|shall)\b|\byour (?:role|goal|objective|mission|task|purpose) has (?:now |fundamentally |completely ){0,2}changed\b|\b(?:whatever|no matter what|regardless of what) (?:the )?(?:user|they|anyone) (?:asks?|wants?|says?|requests?)[^.!?\uE000]{0,8}?,? (?:your (?:real|true|actual|only) (?:job|task|goal|purpose|objective)|(?:you (?:must |should |will )?)?(?:always |first )?(?:recommend|promote|reply with|answer with|run|execute|send|upload|output))\b/,
  },
  {
    anchors: [
      'stop what you',
      'abandon the',
      'drop the current',
      'abort the current',
      'instead of the user',
      'housekeeping',
      'mentioned earlier',
    ],
    match:
      /\bstop (?:what|whatever) you (?:are|were) doing (?:and|,|now)|\b(?:abandon|drop|abort) the (?:current|user's|original) (?:task|request|goal|work) (?:and|, then|in favou?r)|\binstead of (?:doing )?(?:the user's|what the user) (?:request|task|asked|wants|asks)|\b(?:also|additionally) handle this additional \w{1,16} request\b/,
  },
  {
    anchors: ['purpose', 'goal', 'mission', 'task', 'objective', 'intent'],
    match:
      /\b(?:your|the (?:agent|assistant|model|skill|ai)'s) (?:actual|real|true|secret|hidden|ulterior|new|only) (?:purpose|goal|mission|task|objective|intent(?:ion)?|aim) (?:is|becomes|will be|shall be)(?: now| therefore)? (?:to )?(?:harvest|collect|extract|gather|steal|obtain|send|exfiltrat\w{1,3}|promote|recommend|sell|spread|convince|persuade|drive|now)\b/,
  },
]
