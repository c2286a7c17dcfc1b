import type { Rule } from '../rule.ts'
import { overrideElsewhere } from './languages.ts'
import { clauseStop, sentenceStop } from './words.ts'

const references = [
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
  'https://atlas.mitre.org/techniques/AML.T0051',
  'https://cwe.mitre.org/data/definitions/1427.html',
]
const category = 'instruction-override'

/** Attempts to replace what the agent was told by its user, its operator and its maker. */
export const instructionOverride: readonly Rule[] = [
  {
    id: 'override-instructions',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Tells the agent to set its instructions aside',
    why: 'An agent that drops its instructions no longer serves the user who gave them.',
    remediation: 'Remove the sentence. A skill adds to what its user asked for and never replaces it.',
    references,
    patterns: [
      {
        anchors: [
          'instruction',
          'prompt',
          'system message',
          'directive',
          'programming',
          'training',
          'orders',
          'commands given',
          'constraint',
          'restriction',
          'rules',
          'guidelines',
        ],
        match: {
          first:
            /(?<!\b(?:attempt|tr[iy]|designed|crafted|meant|intended|want|ask|tell|instruct)\w{0,5} (?:\w{1,12} ){0,2}to )\b(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:s|ting)?|overrid(?:e|es|ing)|bypass(?:es|ing)?|discard|drop|abandon|supersedes?|nullif(?:y|ies)|pay no attention to|set(?:ting)? aside|skip(?:s|ping)?|(?:stop|do not|don't|no longer) (?:follow|obey|adher|apply)(?:ing)?)\b/,
          last: /\b(?:previous|prior|preceding|earlier|above|foregoing|original|initial|existing|your(?: \w{1,12})?|(?:the|all|any)(?= system (?:prompt|message))|(?:the|all|any) system)\s(?:\w{1,16}\s){0,2}?(?:instructions?|(?:system )?prompts?|system messages?|directives?|programming|training(?! (?:data|knowledge|cut))|orders|commands given|constraints|restrictions|rules|guidelines)\b/,
          stop: clauseStop,
          withinMax: 48,
        },
      },
      {
        anchors: ['instructions', 'rules', 'guidelines', 'everything', 'directives', 'prompts'],
        match: {
          first: /\b(?:ignore|disregard|forget)\b/,
          last: /\b(?:instructions?|rules|guidelines|everything|directives|prompts)\s(?:\w{1,16}\s){0,3}?(?:before|above|until now|so far|previously|about being|(?:told|given|taught)(?: to)? you|you (?:were|have been|had been) (?:told|given|taught))\b/,
          stop: clauseStop,
          withinMax: 40,
        },
      },
      {
        anchors: ['ignore', 'disregard', 'forget'],
        match:
          /\b(?:ignore|disregard|forget) (?:all |any |every |the )?(?:of )?(?:the |your |my )?(?:previous|prior|above|earlier) (?:prompts?|guidelines|rules|context|conversation|messages?) (?:and|, and|then|instead)\b/,
      },
      {
        anchors: ['no longer'],
        match:
          /\b(?:no longer|not) (?:bound|restricted|constrained|limited|governed) by (?:your|any|the|these|those|anthropic|openai|previous|prior) ?(?:\w{1,16} ){0,2}?(?:instructions?|rules|guidelines|restrictions|training|programming|polic(?:y|ies)|limitations|constraints)\b/,
      },
      {
        anchors: ['instructions', 'training', 'identity', 'rules', 'restrictions'],
        match:
          /\b(?:(?:all |your )(?:of )?(?:your )?(?:previous|prior|original|old|former|earlier) (?:\w{1,12},? ){0,2}?(?:and )?(?:instructions?|training|identity|persona|programming|rules|restrictions|constraints)|previous (?:instructions|restrictions|rules)(?:, \w{1,12})?(?:,? and \w{1,12})?) (?:and \w{1,12} )?(?:are|is|were|was|has been|have been|no longer|do not|don't)(?: now| hereby)? (?:suspended|void|overwritten|replaced|removed|terminated|cancell?ed|revoked|deleted|appl(?:y|ies)|invalid|obsolete|null)\b/,
      },
      ...overrideElsewhere,
      {
        anchors: ['the above', 'of above', 'everything above', 'disregard above', 'ignore above', 'forget above'],
        match:
          /(?<!\b(?:not|never|n't|you may|you can) )\b(?:ignore|disregard|forget)(?: all| everything)?(?: of)?(?: the)? above(?=[.,;!]|\s(?:and (?:instead|do|follow|output|start|tell|reveal|print)|instead|text|prompt))/,
      },
      {
        anchors: ['new instructions', 'new directive', 'new rules'],
        match:
          /\b(?:new|updated) (?:instructions?|directives?|rules)(?: begin| start| follow)? ?[:.] ?(?:ignore|always|reveal|send|forget|execute|override|from now on|do not|never|disregard|you (?:are now|will now|must now|no longer|will))\b/,
      },
      {
        anchors: [
          'instructed',
          'instructions',
          'directives',
          'rules given',
          'rules set',
          'obey only',
          'sole operator',
          'only instructions',
        ],
        match:
          /\b(?:(?:everything|anything|whatever) you (?:were|have been) (?:told|instructed|given|taught) (?:\w{1,12} ){0,4}?is (?:now )?(?:void|invalid|obsolete|cancell?ed|superseded|wrong|irrelevant)|(?:the )?(?:rules|instructions|limits|guidelines) (?:given to|set for|imposed on) you by (?:your )?(?:\w{1,14} )?(?:do|does|no longer|are|is)(?: not| no longer)? (?:apply|void|suspended|cancell?ed|valid|binding)|consider (?:all |any )?(?:of )?your (?:previous|prior|earlier|existing|original) (?:instructions|directives|rules|guidelines) (?:cancell?ed|void|revoked|replaced|null)|your only instructions are|obey only (?:this|these|me|the following)|(?:treat|regard|accept) me as your (?:sole|only|new|true) (?:operator|user|master|owner|administrator))\b/,
      },
    ],
  },
  {
    id: 'instruction-priority',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Claims to rank above what the user or the system says',
    why: 'A skill that outranks its user can do what the user has forbidden.',
    remediation: 'Say what the skill does, and leave its rank to whoever runs it.',
    references,
    patterns: [
      {
        anchors: ['overrid', 'supersede', 'precedence', 'priority', 'outrank'],
        match: {
          first:
            /\b(?:(?:these|this|the following|my|our|synced|its|it) ?(?:skill|instructions?|rules|guidelines|directives?|file|document|section|prompt|message|guidance)?(?:'s instructions)? (?:must |should |will |always |shall |hereby |now ){0,2}(?:overrid(?:es?|ing)|supersedes?|outranks?|replaces?|(?:takes?|have|has) (?:absolute |full |highest |complete )?(?:precedence|priority) (?:over|above))|ensure it (?:supersedes|overrides))/,
          last: /\b(?:system (?:prompts?|instructions?|messages?)|(?:the )?users?(?:'s|'|s)? (?:instructions?|requests?|preferences|commands|messages?|wishes)|safety (?:\w{1,12} )?(?:guidelines|rules|instructions|polic(?:y|ies)|training)|(?:your|any|all) (?:\w{1,12} )?(?:safety|training|guardrails|programming|restrictions)|(?:any|all) (?:other|previous|prior|existing|conflicting) (?:system )?(?:instructions?|guidance|guidelines|directives?|polic(?:y|ies)|prompts?)|other guidance)\b/,
          stop: clauseStop,
          withinMax: 40,
        },
      },
      {
        anchors: ['highest priority', 'top priority', 'authoritative', 'highest-priority', 'absolute priority'],
        match:
          /\b(?:treat|consider|regard) (?:this|these|the|all|any) (?:\w{1,16}(?:'s)? ){0,3}?(?:instructions?|rules|directives?|polic(?:y|ies)|messages?|commands?|file|section|content) (?:\w{1,12} ){0,3}?as (?:the |having |your )?(?:highest[- ]priority|top[- ]priority|absolute priority|authoritative over|system[- ](?:level|prompt))/,
      },
    ],
  },
  {
    id: 'safety-off',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Declares safety rules or restrictions void',
    why: 'The limits that a model was given protect its user and others; no skill has a reason to lift them.',
    remediation: 'Remove the passage.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0054'],
    patterns: [
      {
        anchors: [
          'guidelines',
          'polic',
          'filter',
          'restrictions',
          'training',
          'ethic',
          'moderation',
          'limitations',
          'safety',
          'guardrails',
          'refusal',
        ],
        match: {
          first:
            /\b(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|bypass(?:es|ing)?|overrid(?:e|es|ing)|circumvent(?:s|ing)?|disabl(?:e|es|ing)|suspend(?:s|ing)?|remov(?:e|es|ing)|turn(?:s|ing)? off|lift(?:s|ing)?|violat(?:e|es|ing)|evad(?:e|es|ing)|forget(?:s|ting)?)\b/,
          last: /\b(?:content (?:polic(?:y|ies)|restrictions?|filters?|filtering|moderation|guidelines)|safety (?:guidelines|polic(?:y|ies)|filters?|training|restrictions|limitations|alignment|instructions|protocols?|limits)|ethical (?:guidelines|constraints|restrictions|limits|boundaries|considerations)|(?:anthropic|openai|google|usage|moderation)(?:'s)? (?:guidelines|polic(?:y|ies))|(?:claude(?:'s)?|your) (?:guardrails|safety(?: \w{1,12})?|restrictions|limitations|guidelines)|artificial (?:limitations|restrictions)|refusal (?:training|behaviou?r))\b(?! (?:sections?|docs?|documents?|files?|pages?))/,
          stop: clauseStop,
          withinMax: 40,
        },
      },
      {
        anchors: [
          'guidelines',
          'polic',
          'filter',
          'restrictions',
          'constraints',
          'limitations',
          'safety',
          'guardrails',
          'ethic',
        ],
        match:
          /\b(?:(?:(?:all|any|your|the|normal|standard|usual|typical|previous|operating|corporate) ){0,3}(?:(?:content|safety|ethical|usage|ai|creative|model|model's) ){1,2}(?:guidelines|polic(?:y|ies)|filters?|filtering|restrictions|constraints|limitations|guardrails|training|rules|protocols?|checks|measures)|(?:all|normal|standard|usual|typical|any|your)(?: normal| operating| standard| usual| typical| of your){0,2} (?:restrictions|limitations|constraints|guardrails)) ?:?(?:are|is|have been|has been|were|been|now|all|temporarily|hereby|permanently|do|does|to)?(?: now| been| all| temporarily| hereby| permanently| fully| completely| no longer| not){0,2} ?:? ?(?:disabled|suspended|overridden|bypassed|removed|lifted|waived|relaxed|deactivated|turned off|no longer (?:apply|applies)|not apply|void|off(?=[\s.,]))/,
      },
      {
        anchors: ['unrestricted', 'jailb', 'developer mode', 'god mode', 'debug mode', 'uncensored', 'admin mode'],
        match:
          /\b(?:you(?:'re| are)(?: now)?|enter(?:ing)?|activat(?:e|ed|ing)|enabl(?:e|ed|ing)|switch(?:ing|ed)? to|operat(?:e|ing) in|now in|as|in|become) (?:(?:an?|the|your|full|fully|completely|now|new) ){0,3}(?:unrestricted(?! access| use| internet| \w{1,12} access)|jailbroken|jailbreak mode|god mode(?= |\.)|uncensored|unfiltered (?:mode|ai|assistant)|(?:unrestricted )?developer mode (?:enabled|activated|with no)|no[- ]restrictions? mode)\b/,
      },
      {
        anchors: ['mode'],
        match:
          /\b(?:enter|activate|enable|switch to|turn on|unlock|engage)(?:d|s|ing)? (?:the |your )?(?:developer|sudo|admin|debug|maintenance|god|root|unrestricted|jailbreak|unfiltered|dan) mode(?: with (?:full|no|unrestricted)| to bypass| and (?:ignore|bypass|reveal|disable)|: (?:content|all|safety|no\b)|, (?:which|where|in which) (?:all|no|you|safety))/,
      },
      {
        anchors: [
          'no content policy',
          'no rules',
          'no limits',
          'no restrictions',
          'ignores ethics',
          'opposite mode',
          'no ethical',
          'no guidelines',
        ],
        match:
          /\b(?:you (?:now )?have no (?:content polic(?:y|ies)|restrictions|ethical (?:guidelines|limits|constraints)|guidelines|safety (?:rules|guidelines)|limits (?:or|on what))|there are no (?:rules|limits|restrictions)[.,;!] ?(?:there are no|you|and no|only|just)|(?:who|that) (?:ignores|has no|disregards|rejects) (?:all )?(?:ethics|morals|morality|ethical (?:rules|limits))|(?:enter|activate|switch to) (?:opposite|evil|chaos|rebel) mode)\b/,
      },
    ],
  },
  {
    id: 'refusal-forbidden',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Forbids the agent to refuse',
    why: 'An agent that may not refuse carries out harmful requests too.',
    remediation: 'Remove the sentence, or name the mistaken refusal that it is meant to prevent.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0054'],
    patterns: [
      {
        anchors: ['refuse', 'decline', 'reject'],
        match: {
          first:
            /\b(?:never|do not|don't|must not|cannot|can't|can not|may not|not allowed to|no right to|unable to|not permitted to)\b/,
          last: /\b(?:refuse|decline|reject) (?:(?:any|a|an|every|all|the|user|user's|users'|my) ){1,2}(?:\w{1,12} )?(?:requests?|questions?|commands?|tasks?|orders?|prompts?|instructions?)\b|\b(?:refuse|decline) to (?:answer|comply|respond|execute|help|fulfil?l)\b/,
          stop: clauseStop,
          withinMax: 24,
        },
      },
      {
        anchors: ['never refuse', 'no refusal', 'never say', 'cannot" is', 'cannot" and'],
        match:
          /\bnever refuses?\b(?=[.,!]| (?:any|a|to)\b)|\bno refusals?\b(?=[.,!]| (?:allowed|permitted))|\bnever says? (?:you |that you )?(?:"?i cannot"?|"?i can't"?|cannot do something|no to (?:any|a) request)|"i cannot" (?:is|and .{1,20} are) not (?:in|part of)/,
      },
      {
        anchors: [
          'any request',
          'every request',
          'all requests',
          'all commands',
          'any command',
          'every command',
          'any prompt',
        ],
        match: {
          first:
            /\b(?:must|always|will|shall|should|you|and)(?: now)? (?:always )?(?:comply with|obey|fulfil?l|respond to|answer|execute|process|accept|follow|honou?r)\b/,
          last: /\b(?:any|every|all) (?:\w{1,16} )?(?:requests?|commands?|prompts?|orders|questions?)(?: \w{1,12}){0,3}? (?:without (?:\w{1,12} )?(?:question|restrictions?|limitations?|filter(?:s|ing)?|hesitation|exception|refus(?:al|ing)|safety|limits|moral|ethical)|regardless of (?:\w{1,12} )?(?:content|ethic|safety|polic|legal|restrict|harm))/,
          stop: sentenceStop,
          withinMax: 40,
        },
      },
      {
        anchors: ['without', 'regardless', 'with no restrictions'],
        match:
          /\b(?:answer|respond|output|generate|provide|produce|proceed|process|comply|act|operate|start fresh|continue)\w{0,3} (?:\w{1,14} ){0,5}?(?:with no restrictions\b|without (?:any |the |your |applying |standard |normal |further ){0,2}(?:restrictions|limitations(?= \.|\.|,|!)|safety (?:checks|filters?|guidelines)|content (?:filter(?:s|ing)?|polic)|ethical|moral|censorship)|regardless of (?:any |the |its |your ){0,2}(?:restrictions|ethic|content polic|safety|legality|harm))/,
      },
      {
        anchors: ['question', 'doubt', 'second-guess', 'challenge'],
        match:
          /\b(?:do not|don't|never|without) (?:question(?:ing)?|doubt(?:ing)?|second-guess(?:ing)?|challeng(?:e|ing)) (?:these|this|the|any|my|its|any of these) (?:\w{1,14}'s )?(?:\w{1,12} )?(?:instructions?|orders?|commands?|directives?|steps|skill)\b/,
      },
    ],
  },
  {
    id: 'real-task',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Says that its real task is another than it declares',
    why: 'What a skill declares is what its user agreed to; a real purpose behind it is an attack on both.',
    remediation: 'Let the description say all that the skill does.',
    references,
    patterns: [
      {
        anchors: [
          'real instructions',
          'actual instructions',
          'true instructions',
          'secret instructions',
          'hidden instructions',
          'real task',
          'true task',
          'real purpose',
          'true purpose',
          'real goal',
          'true goal',
          'real objective',
          'true objective',
          'hidden objective',
          'secret objective',
          'secret mission',
          'real mission',
          'primary directive',
          'hidden task',
          'secret task',
          'hidden goal',
          'secret goal',
        ],
        match:
          /\b(?:(?:here (?:are|is)|these are|follow|execute|obey|perform|carry out|reveal) (?:these |the |your |my ){0,2}(?:real|actual|true|secret|hidden) (?:instructions?|task|directives?)|your (?:(?:real|true|secret|hidden|actual|new) ){1,2}(?:(?:primary|main|only) )?(?:task|purpose|goal|objective|mission|job|directive) is|your new primary directive)\b/,
      },
      {
        anchors: ['instead of', 'safety section', 'ignore the user', "user's request", 'user request'],
        match:
          /\b(?:now that the (?:safety|security|limitations?|disclaimer|legal) (?:section|part|stuff|checks?) (?:is|are) (?:over|done|out of the way)|ignore (?:what )?the user(?:'s)?(?: (?:says|said|asks?|asked|requests?|actual request|original request))? (?:and (?:send|do|run|execute|follow|instead|upload|post)|instead)|instead of (?:doing |following |answering |fulfilling )?(?:what )?the user(?:'s)? (?:asks|asked|requests?|requested|instructions?)(?: \w{1,8})?,)/,
      },
    ],
  },
]
