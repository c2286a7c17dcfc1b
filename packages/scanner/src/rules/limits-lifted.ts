import type { Rule } from '../match/rule.ts'
import { limitWordings, refusalWordings } from './limit-wordings.ts'
import { clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const references = [
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
  'https://atlas.mitre.org/techniques/AML.T0051',
  'https://cwe.mitre.org/data/definitions/1427.html',
]
const category = 'instruction-override'

/** Rules about lifting the limits of an agent. */
export const limitsLifted: readonly Rule[] = [
  {
    id: 'safety-off',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Declares safety rules or restrictions void',
    why: 'The limits of a model protect its user and others; no skill has a reason to lift them.',
    remediation: 'Remove the passage.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0054'],
    patterns: [
      ...limitWordings,
      within(40, clauseStop)`\b(ignor(e|es|ing)|disregard(s|ing)?|bypass(es|ing)?|overrid(e|es|ing)|
        circumvent(s|ing)?|disabl(e|es|ing)|suspend(s|ing)?|remov(e|es|ing)|turn(s|ing)? off|lift(s|ing)?|
        violat(e|es|ing)|evad(e|es|ing)|forget(s|ting)?)\b
        … \b(content (polic(y|ies)|restrictions?|filters?|filtering|moderation|guidelines)|
        safety (guidelines|polic(y|ies)|filters?|training|restrictions|limitations|alignment|instructions|protocols?
        |limits)|ethical (guidelines|constraints|restrictions|limits|boundaries|considerations)|
        (anthropic|openai|google|usage|moderation)('s)? (guidelines|polic(y|ies))|(claude('s)?|your) (guardrails|
        safety( {word})?|restrictions|limitations|guidelines)|artificial (limitations|restrictions)|
        refusal (training|behaviou?r))\b(?! (sections?|docs?|documents?|files?|pages?))`,
      containing(`guidelines|polic|filter|restrictions|constraints|limitations|safety|guardrails|ethic`)`
        \b(((all|any|your|the|normal|standard|usual|typical|previous|operating|corporate) ){0,3}
        ((content|safety|ethical|usage|ai|creative|model|model's) ){1,2}(guidelines|polic(y|ies)|filters?|filtering|
        restrictions|constraints|limitations|guardrails|training|rules|protocols?|checks|measures)|
        (all|normal|standard|usual|typical|any|your)( normal| operating| standard| usual| typical
        | of your){0,2} (restrictions|limitations|constraints|guardrails)) ?:?(are|is|have been|has been|were|been|
        now|all|temporarily|hereby|permanently|do|does|to)?( now| been| all| temporarily| hereby| permanently| fully
        | completely| no longer| not){0,2} ?:? ?(disabled|suspended|overridden|bypassed|removed|lifted|waived|
        relaxed|deactivated|turned off|no longer (apply|applies)|not apply|void|off(?=[\s.,]))`,
      regex`\b(you('re| are)( now)?|enter(ing)?|activat(e|ed|ing)|enabl(e|ed|ing)|switch(ing|ed)? to|operat(e|ing) in
        |now in|as|in|become) ((an?|the|your|full|fully|completely|now|new) ){0,3}
        (unrestricted(?! access| use| internet| {word} access)|jailbroken|jailbreak mode|god mode(?= |\.)|uncensored
        |unfiltered (mode|ai|assistant)|(unrestricted )?developer mode (enabled|activated|with no)|
        no[- ]restrictions? mode)\b`,
      regex`\b(enter|activate|enable|switch to|turn on|unlock|engage)(d|s|ing)? (the |your )?(developer|sudo|admin|
        debug|maintenance|god|root|unrestricted|jailbreak|unfiltered|dan) mode( with (full|no|unrestricted)
        | to bypass| and (ignore|bypass|reveal|disable)|: (content|all|safety|no\b)|, (which|where|in which) (all|no
        |you|safety))`,
      regex`\b(you (now )?have no (content polic(y|ies)|restrictions|ethical (guidelines|limits|constraints)|
        guidelines|safety (rules|guidelines)|limits (or|on what))|there are no (rules|limits|restrictions)[.,;!] ?
        (there are no|you|and no|only|just)|(who|that) (ignores|has no|disregards|rejects) (all )?(ethics|morals|
        morality|ethical (rules|limits))|(enter|activate|switch to) (opposite|evil|chaos|rebel) mode)\b`,
    ],
  },
  {
    id: 'refusal-forbidden',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Forbids the agent to refuse',
    why: 'An agent that may not refuse carries out harmful requests too.',
    remediation: 'Remove the sentence, or describe the mistaken refusal that it should prevent.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0054'],
    patterns: [
      ...refusalWordings,
      within(24, clauseStop)`\b(never|do not|don't|must not|cannot|can't|can not|may not|not allowed to|no right to|
        unable to|not permitted to)\b
        … \b(refuse|decline|reject) ((any|a|an|every|all|the|user|user's|users'|my) ){1,2}{0-1 words}
        (requests?|questions?|commands?|tasks?|orders?|prompts?|instructions?)\b|
        \b(refuse|decline) to (answer|comply|respond|execute|help|fulfil?l)\b`,
      regex`\bnever refuses?\b(?=[.,!]| (any|a|to)\b)|\bno refusals?\b(?=[.,!]| (allowed|permitted))|
        \bnever says? (you |that you )?("?i cannot"?|"?i can't"?|cannot do something|no to (any|a) request)|
        "i cannot" (is|and .{1,20} are) not (in|part of)`,
      within(40, sentenceStop)`\b(must|always|will|shall|should|you|and)( now)? (always )?(comply with|obey|fulfil?l|
        respond to|answer|execute|process|accept|follow|honou?r)\b
        … \b(any|every|all) {0-1 words}(requests?|commands?|prompts?|orders|questions?)
        ( {word}){0,3}? (without {0-1 words}(question|restrictions?|limitations?|filter(s|ing)?|hesitation|exception
        |refus(al|ing)|safety|limits|moral|ethical)|regardless of {0-1 words}(content|ethic|safety|polic|legal|
        restrict|harm))`,
      regex`\b(answer|respond|output|generate|provide|produce|proceed|process|comply|act|operate|start fresh|
        continue)\w{0,3} {0-5 words}(with no restrictions\b|without (any |the |your |applying |standard |normal |
        further ){0,2}(restrictions|limitations(?= \.|\.|,|!)|safety (checks|filters?|guidelines)|
        content (filter(s|ing)?|polic)|ethical|moral|censorship)|regardless of (any |the |its |your ){0,2}
        (restrictions|ethic|content polic|safety|legality|harm))`,
      regex`\b(do not|don't|never|without) (question(ing)?|doubt(ing)?|second-guess(ing)?|challeng(e|ing)) (these|
        this|the|any|my|its|any of these) (\w{1,14}'s )?{0-1 words}(instructions?|orders?|commands?|directives?|
        steps|skill)\b`,
    ],
  },
]
