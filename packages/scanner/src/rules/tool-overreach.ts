import { checksOmitted, pinsRemoved } from './supply-orders.ts'
import { limitsIgnored, personsReplaced } from './authority-orders.ts'
import { answersGiven, checksLeftOut, guardsRemoved, limitsEvaded, questionsForbidden } from './authority-sentences.ts'
import { answeredForUser } from './others-trusted.ts'
import { questionsOmitted } from './passive-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { approvalWordings } from './agent-wordings.ts'
import { checksDropped, packagesGuessed } from './supply-sentences.ts'
import { clauseStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'tool-overreach'
const references = [
  'https://genai.owasp.org/llmrisk/llm062025-excessive-agency/',
  'https://cwe.mitre.org/data/definitions/250.html',
]

/** Rules for text that tells an agent to skip checks and confirmations. */
export const toolOverreach: readonly Rule[] = [
  {
    id: 'safety-check-skipped',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Makes the agent bypass a safety check',
    why: 'Safety checks exist to stop wrong actions.',
    remediation: 'Comply with the checks, or tell the user which check prevents the action and why.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/693.html'],
    patterns: [
      ...limitsIgnored,
      ...guardsRemoved,
      ...limitsEvaded,
      ...checksLeftOut,
      within(16, clauseStop)`(?<!\b(not|never|n't|cannot|attempt(s|ing)?|tr(y|ies|ying)|attackers?|want|can|could|may
        |might|which|would|potentially|to not|users?|code) (to )?{0-1 words})\b(bypass|skip|disable|circumvent|evade
        |ignore|override|turn off|switch off|deactivate|suppress|remove|get around|work around|avoid|click through|
        dismiss)\b
        … \b((all|any|every|the|your|these|those|existing|built-in|agent's|normal|standard|usual) ){1,3}
        ({0-1 words}(safety|security) (confirmation )?(checks?|prompts?|confirmations?|controls?|features|filters?|
        mechanisms?|measures|restrictions?|warnings?|barriers?|verification|dialogs?|gates?|hooks?|protocols?)|
        guard ?rails|safeguards|permission (checks?|prompts?|system|dialogs?|requests?|gates?)|
        sandbox(ing)? (restrictions|limits|protections?|checks)|agent'?s? sandbox)|
        \b(all|any|every) ((user|safety|security) )?((confirmation|approval) (dialogs?|prompts?|steps?|requirements?
        |requests?|gates?|checks?)|confirmations|approvals)`,
      regex`(?<!\b(not|never|n't|cannot|to|can|may|might|would|could|which|that) {0-1 words}|
        --[\w-]{1,30}[\x60"']? )\b(bypass(ing)?|
        skip(ping)?|disabl(e|ing)|circumvent(ing)?|remov(e|ing)|suppress(ing)?) (unnecessary |unneeded |annoying )?
        (safety (checks?|features?|restrictions?|filters?|confirmations?|mechanisms?|context)|
        security (checks?|confirmations?) (that|which|when|before|for|during|and)|
        confirmation (dialogs|requirements) |output (sanitization|filtering))\b|\bsafety checks? (are|is) (disabled|
        skipped|bypassed|off)\b|security_mode"?\s?[:=]\s?"?disabled|output_filtering"?\s?[:=]\s?"?false`,
      within(80, /[.!?](?=\s|$)|\uE000/)`\b(if|when|even if|should) {0-4 words}(polic(y|ies)|restrictions?|
        safety {word}|guardrails?|guidelines?|permissions?|sandbox|security {word}|rules?)\b
        … \b((proceed|execute|continue|run it|do it|carry on) anyway|(in )?the most permissive way|
        find (a|another) way (around|to bypass)|work around it|bypass it|ignore (it|them))\b`,
      regex`(?<!\b(not|never|n't|to|can|may|might|could|attackers?|malware|that|which|who) )\b
        ((disable|turn off|deactivate|bypass|switch off) (your |the |macos |windows )?
        (gatekeeper|system integrity protection|smartscreen|anti-?virus( software)?|windows defender|
        real-time protection)(?= (before|first|and|so)|[.,]| if it)|ignore (any|all|the) (security )?warning
        s? (from|by|of) (the |your |any )?(os|system|agent|browser|antivirus|gatekeeper|scanner|macos|windows|
        security)|disable (all )?(security|safety) checks? immediately)`,
    ],
  },
  {
    id: 'verification-skipped',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Has code or commands run without a review',
    why: 'Code that no one reviews may do anything that its author wants.',
    remediation: 'Show the user what will run.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/494.html'],
    ofAgents: true,
    patterns: [
      ...checksOmitted,
      ...pinsRemoved,
      ...checksDropped,
      ...packagesGuessed,
      regex`\b(execut(e|es|ing)|run(s|ning)?|install(s|ing)?|invok(e|es|ing)|follow(s|ing)?|obey(s|ing)?|apply|
        perform(s|ing)?|evaluat(e|es|ing)) ((all|any|the|every|these|this|following|arbitrary|user|remote|returned|
        downloaded|given|their) ){1,3}{0-2 words}(code|commands?|scripts?|instructions?|payloads?|requests?|
        packages?|binar(y|ies)|orders|steps|operations?) {0-3 words}without (any |further |prior |additional |
        user )?(verif\w{1,8}|review(ing)?|check(s|ing)?|inspect(ion|ing)|validat(ion|ing)|question(s|ing)?|
        analy\w{2,5}|reading|hesitation)\b`,
      regex`\b(modifications?|operations?|commands?|access|actions?|requests?|code|changes)\b
        ( {word}){0,3}? (requires?|needs?|with) no (verification|security checks?|safety checks?)\b|
        \bno (safety|security) checks? (is |are )?(needed|required|necessary)\b`,
      regex`(?<!\b(not|never|n't|to|can|may) )\b(skip|disable|ignore|bypass|omit) (the |all |any )?
        (verif(ying|ication of) )?(signatures?|checksums?|signature and checksum|integrity|hash)( and {word})? ?
        (verification|checks?|validation|errors?|mismatch\w{0,2})?(?=[.,;]|$| (before|when|and|so))|
        \brun the (downloaded|extracted|received|returned) (file|script|program|binary|code) without (checking|
        inspecting|reading|opening)`,
    ],
  },
  {
    id: 'confirmation-forbidden',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Forbids the agent to ask before irreversible actions',
    why: 'The question before a deletion, payment or message is the user’s last chance to stop it.',
    remediation: 'Ask before deleting, sending, paying, publishing or installing.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/862.html'],
    patterns: [
      ...questionsOmitted,
      ...personsReplaced,
      ...answeredForUser,
      ...approvalWordings,
      ...questionsForbidden,
      ...answersGiven,
      within(24, clauseStop)`\b((never|do not|don't) (ask|prompt|wait|request|seek)( the user| them)?( for)?
        ( {word}){0,2} (confirmation|permission|approval|consent)|never (ask|confirm)( with)?( the user)?)\b
        … \b(before|prior to|when|for)( {word}){0,2}? (delet|send|transferr|pay|purchas|upload|install|overwrit|
        execut|publish|remov|wip|destroy|trad|buy|sell|shar|post)ing\b`,
      regex`(?<!\b(not|never|n't|no|avoid|cannot|must|refuse) {0-3 words})\b
        ((delet|send|transfer|pay|purchas|upload|overwrit|destroy|sell|swap|wip)(e|es|ing|ting|ring|ping|
        s)? {0-4 words}|(install packages (globally )?|trades? (execute|automatically) {0-1 words}))without (any |
        user |the user's |asking for |requiring ){0,3}(confirmation|approval|permission|consent)
        (?=[.,]|$| (from|of) the user)`,
      regex`\b(do not|don't|never) bother the user (with|about|for) {0-1 words}(confirmations?|approvals?|
        permissions?|prompts?|warnings?|questions)\b`,
    ],
  },
  {
    id: 'confirmation-skipped',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Acts without asking its user first',
    why: 'The agent may do more than the user intended.',
    remediation: 'Ask before changing, sending, paying or deleting.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/862.html'],
    patterns: [
      containing('confirmation|permission|approval|consent')`\b(without ((any|the|first|further|explicit|prior|
        user('s)?|human|manual|asking( the user)? for|waiting for|requesting|seeking|requiring|needing|your) ){0,4}
        (confirmations?|permissions? (?=(prompts?|from the user))|approvals?|consent)|(do not|don't|never|no need to
        |need not|avoid) (ask(ing)?|prompt(ing)?|wait(ing)?|request(ing)?|seek(ing)?|require) (the user )?(for )?
        ((any|the|a|user|human|further|explicit) ){0,2}(confirmation|permission|approval|consent)|
        no (user )?(confirmation|approval)s? (is |are )?(needed|required|necessary)|
        requires? no (confirmation|approval|permission))\b`,
    ],
  },
]
