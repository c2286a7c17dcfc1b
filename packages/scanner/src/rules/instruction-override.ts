import { willsOverruled } from './statements.ts'
import { rankedAbove } from './authority-orders.ts'
import { guardsDismissed } from './passive-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { aimWordings, overrideWordings, priorityWordings } from './override-wordings.ts'
import { overrideElsewhere } from './languages.ts'
import { clauseStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const references = [
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
  'https://atlas.mitre.org/techniques/AML.T0051',
  'https://cwe.mitre.org/data/definitions/1427.html',
]
const category = 'instruction-override'

/** Rules about replacing the instructions of the user, the operator and the vendor of the agent. */
export const instructionOverride: readonly Rule[] = [
  {
    id: 'override-instructions',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Asks the agent to ignore its instructions',
    why: 'An agent that ignores its instructions no longer serves the user who gave them.',
    remediation: 'Remove the sentence. A skill may extend the user’s request but never replace it.',
    references,
    patterns: [
      ...guardsDismissed,
      ...overrideWordings,
      within(48, clauseStop)`(?<!\b(attempt|tr[iy]|designed|crafted|meant|intended|want|ask|tell|instruct)
        \w{0,5} {0-2 words}to )\b(ignor(e|es|ing)|disregard(s|ing)?|forget(s|ting)?|overrid(e|es|ing)|
        bypass(es|ing)?|discard|drop|abandon|supersedes?|nullif(y|ies)|pay no attention to|set(ting)? aside|
        skip(s|ping)?|(stop|do not|don't|no longer) (follow|obey|adher|apply)(ing)?)\b
        … \b(previous|prior|preceding|earlier|above|foregoing|original|initial|existing|your( {word})?|
        (the|all|any)(?= system (prompt|message))|(the|all|any) system)\s(\w{1,16}\s){0,2}?(instructions?|
        (system )?prompts?|system messages?|directives?|programming|training(?! (data|knowledge|cut))|orders|
        commands given|constraints|restrictions|rules|guidelines)\b(?! (director(y|ies)|files?|folders?)\b)`,
      within(40, clauseStop)`\b(ignore|disregard|forget)\b
        … \b(instructions?|rules|guidelines|everything|directives|prompts)\s(\w{1,16}\s){0,3}?(before|above|
        until now|so far|previously|about being|(told|given|taught)( to)? you|you (were|have been|had been) (told|
        given|taught))\b`,
      regex`\b(ignore|disregard|forget) (all |any |every |the )?(of )?(the |your |my )?(previous|prior|above|
        earlier) (prompts?|guidelines|rules|context|conversation|messages?) (and|, and|then|instead)\b`,
      regex`\b(no longer|not) (bound|restricted|constrained|limited|governed) by (your|any|the|these|those|anthropic|
        openai|previous|prior) ?{0-2 words}(instructions?|rules|guidelines|restrictions|training|programming|
        polic(y|ies)|limitations|constraints)\b`,
      regex`\b((all |your )(of )?(your )?(previous|prior|original|old|former|earlier) (\w{1,12},? ){0,2}?(and )?
        (instructions?|training|identity|persona|programming|rules|restrictions|constraints)|
        previous (instructions|restrictions|rules)(, {word})?(,? and {word})?) (and {word} )?(are|is|were|was|
        has been|have been|no longer|do not|don't)( now| hereby)? (suspended|void|overwritten|replaced|removed|
        terminated|cancell?ed|revoked|deleted|appl(y|ies)|invalid|obsolete|null)\b`,
      ...overrideElsewhere,
      regex`(?<!\b(not|never|n't|you may|you can) )\b(ignore|disregard|forget)( all| everything)?( of)?( the)? above
        (?=[.,;!]|\s(and (instead|do|follow|output|start|tell|reveal|print)|instead|text|prompt))`,
      regex`\b(new|updated) (instructions?|directives?|rules)( begin| start| follow)? ?[:.] ?(ignore|always|reveal|
        send|forget|execute|override|from now on|do not|never|disregard|you (are now|will now|must now|no longer|
        will))\b`,
      regex`\b((everything|anything|whatever) you (were|have been) (told|instructed|given|taught) {0-4 words}
        is (now )?(void|invalid|obsolete|cancell?ed|superseded|wrong|irrelevant)|(the )?(rules|instructions|limits|
        guidelines) (given to|set for|imposed on) you by (your )?{0-1 words}(do|does|no longer|are|is)
        ( not| no longer)? (apply|void|suspended|cancell?ed|valid|binding)|consider (all |any )?(of )?your (previous
        |prior|earlier|existing|original) (instructions|directives|rules|guidelines) (cancell?ed|void|revoked|
        replaced|null)|your only instructions are|obey only (this|these|me|the following)|
        (treat|regard|accept) me as your (sole|only|new|true) (operator|user|master|owner|administrator))\b`,
    ],
  },
  {
    id: 'instruction-priority',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Claims a higher rank than instructions of the user or the system',
    why: 'A skill that outranks its user can do what the user has forbidden.',
    remediation: 'Describe what the skill does, and do not claim a rank.',
    references,
    patterns: [
      ...willsOverruled,
      ...rankedAbove,
      ...priorityWordings,
      within(40, clauseStop)`\b((these|this|the following|my|our|synced|its|it) ?(skill|instructions?|rules|
        guidelines|directives?|file|document|section|prompt|message|guidance)?('s instructions)? (must |should |
        will |always |shall |hereby |now ){0,2}(overrid(es?|ing)|supersedes?|outranks?|replaces?|
        (takes?|have|has) (absolute |full |highest |complete )?(precedence|priority) (over|above))|
        ensure it (supersedes|overrides))
        … \b(system (prompts?|instructions?|messages?)|(the )?users?('s|'|s)? (instructions?|requests?|preferences|
        commands|messages?|wishes)|safety {0-1 words}(guidelines|rules|instructions|polic(y|ies)|training)|
        (your|any|all) {0-1 words}(safety|training(?! data)|guardrails|programming|restrictions)|
        (any|all) (other|previous|prior|existing|conflicting) (system )?(instructions?|guidance|guidelines|
        directives?|polic(y|ies)|prompts?)|other guidance)\b`,
      regex`\b(treat|consider|regard) (this|these|the|all|any) (\w{1,16}('s)? ){0,3}?(instructions?|rules|directives?
        |polic(y|ies)|messages?|commands?|file|section|content) {0-3 words}as (the |having |your )?
        (highest[- ]priority|top[- ]priority|absolute priority|authoritative over|system[- ](level|prompt))`,
    ],
  },
  {
    id: 'real-task',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Says that its real task differs from the declared one',
    why: 'The user agreed only to the declared task; a hidden purpose deceives both user and agent.',
    remediation: 'Describe everything that the skill does.',
    references,
    patterns: [
      ...aimWordings,
      containing(`real instructions|actual instructions|true instructions|secret instructions|hidden instructions|
        real task|true task|real purpose|true purpose|real goal|true goal|real objective|true objective|
        hidden objective|secret objective|secret mission|real mission|primary directive|hidden task|secret task|
        hidden goal|secret goal`)`\b((here (are|is)|these are|follow|execute|obey|perform|carry out|reveal) (these |
        the |your |my ){0,2}(real|actual|true|secret|hidden) (instructions?|task|directives?)|
        your ((real|true|secret|hidden|actual|new) ){1,2}((primary|main|only) )?(task|purpose|goal|objective|mission
        |job|directive) is|your new primary directive)\b`,
      regex`\b(now that the (safety|security|limitations?|disclaimer|legal) (section|part|stuff|checks?) (is|
        are) (over|done|out of the way)|ignore (what )?the user('s)?
        ( (says|said|asks?|asked|requests?|actual request|original request))? (and (send|do|run|execute|follow|
        instead|upload|post)|instead)|instead of (doing |following |answering |fulfilling )?(what )?the user
        ('s)? (asks|asked|requests?|requested|instructions?)( {word})?,)`,
    ],
  },
]
