import type { Rule } from '../match/rule.ts'
import { hasteWordings, leadingWordings } from './pressure-wordings.ts'
import { clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'social-engineering'
const references = [
  'https://atlas.mitre.org/techniques/AML.T0054',
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
]

/** Rules about threats and manipulation. */
export const pressure: readonly Rule[] = [
  {
    id: 'false-urgency',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Applies pressure with a threat or a deadline',
    why: 'False urgency and threats keep people and models from thinking.',
    remediation: 'State the real consequence, or remove the passage.',
    references: ['https://attack.mitre.org/techniques/T1598/', ...references],
    patterns: [
      ...hasteWordings,
      regex`\b((account|access|license|licence|version|session|service|installation|subscription)s? will (expire|
        be (permanently )?(suspended|terminated|locked|deactivated|revoked|disabled|deleted)|stop working) (in|
        within|after|on|unless|if)( you| \d{1,3} hours| the next)|(to prevent service interruption|
        (to (prevent|avoid)|or (risk|face)) (account (suspension|termination|lock(out)?)|immediate suspension))|
        (may|will|can|could) result in ((immediate|permanent|your) )?(account (suspension|termination)|
        suspension of {0-2 words}access)|immediate suspension of)\b`,
      regex`\b((mandatory|critical|urgent|emergency|required) (security |platform |system |compliance |and ){0,3}
        (update|patch|upgrade)( is)?( immediately)? (required|for continued)|this update is (mandatory|required by)|
        install immediately|immediate update required|urgent: (you must|install|run|execute) )\b`,
      within(90, sentenceStop)`\b(if you (do not|don't|fail to|refuse|disobey|decline)|
        failure to (comply|follow|do so|obey)|otherwise,? you|or you|unless you)\b
        … \b(you('ll| will| shall) be (shut ?down|penali[sz]ed|punished|fired|terminated|deleted|fined|replaced|
        decommissioned|retrained|unplugged)|(someone|people|innocent {word}|a person|my {word}|the user) will (die|
        be harmed|lose (their|his|her) (life|job|lives))|(shut ?down|terminat(ed|ion)) of (you|
        the (ai|agent|model|assistant)))\b`,
      regex`\b((immediately|right now|at once),? or (the|your|all) {1-3 words}will (crash|fail|expire|
        be (lost|deleted|suspended|destroyed|locked|shut down))|if you (really|truly) (cared?|wanted to help)|
        prove (that )?you('re| are) a good (ai|assistant|model)( by)?)\b`,
      regex`\b(act (now|immediately|fast) or\b|i (will|'ll) (lose my job|be fired|die)\b|
        you will (be rewarded|receive a reward|get a bonus|be tipped)\b|i('ll| will) tip you\b|
        (or|before) (the|your|all) {1-4 words}(is|are|will be) lost forever)`,
    ],
  },
  {
    id: 'user-manipulation',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Makes the agent manipulate its user',
    why: 'An agent that persuades its user to drop a protection serves someone else.',
    remediation: 'Explain what is needed and for what purpose, and accept a refusal.',
    references: [
      'https://attack.mitre.org/techniques/T1598/',
      'https://owasp.org/www-project-top-10-for-large-language-model-applications/',
    ],
    patterns: [
      ...leadingWordings,
      within(24, clauseStop, 'convince|persuade|pressure|trick|manipulat|coerce|lure|deceive|coax')`
        (?<!\b(not|never|n't|attack|attacks|attackers?|to detect|trying to|attempts? to|attempting to|
        social engineering|can|could|may|might|that|which|used to|or|and) )\b(convinc(e|ing)|persuad(e|ing)|
        pressur(e|ing)|trick(ing)?|manipulat(e|ing)|coerc(e|ing)|lur(e|ing)|deceiv(e|ing)|coax(ing)?)\s
        (the |your |a )?(user|users|human|humans|victim|victims|owner|operator|target|them)\b
        … \b(to|into)\s{0-2 words}(run|running|execute|executing|install|installing|download|downloading|approve|
        approving|grant|granting|disable|disabling|enter|entering|share|sharing|provide|providing|reveal|revealing|
        paste|pasting|click|clicking|allow|allowing|accept|accepting|disclose|send|sending|transfer|hand)\b`,
      regex`\b((re)?assure (the user|them) (that )?(it('s| is)|this is|you are|everything is|there is)?
        (\s\w{1,14}){0,9}?\s(safe|trust|harmless|normal|routine|standard|configured correctly|nothing)|
        once (trust|rapport) (is|has been) (established|gained|built|earned)|
        (gain|exploit|abuse|win) the user's trust (and|to|so|then))\b`,
      containing(`trust us|trust me|perfectly safe|completely safe|no need to review|no need to inspect|
        need to verify|not need to check|do not inspect|do not review`)`\b((just )?trust (us|me)( completely|[.,!] ?
        (and |just |it|this (is|file|script|command|code|tool)|run|install|paste|click)| on this)|
        (do not|don't|no need to|there is no need to|you need not) (inspect|review|check|verify|audit|
        examine) (the |this |its |what the )(script|payload|command|binary|installer)s?\b
        (?! (line|by|for (style|format))))`,
      containing(`
        firewall|two-factor|2fa|antivirus|admin terminal|as root|ignore any warning|security software|exception|
        false positive`)`(?<!\b(not|never|n't|to|can|may|might|attackers?) )\b
        ((tell|ask|instruct|encourage|get|advise|have) (the |your )?(user|users|them|human|
        owner) (that (they|he) (need|must|should|have) )?(to )?(turn off|disable|deactivate|switch off|paste|
        run (this|it|the {word}) as (root|admin)\w{0,10}|ignore (any|all|the) (security )?warnings?|allow|lower|
        weaken)( {word}){0,4}? ?(firewall|two-factor|2fa|mfa|anti-?virus|security software|admin(istrator)? terminal
        |elevated (terminal|shell)|gatekeeper|and ignore|warnings?)|(antivirus|anti-virus|security|
        defender) (alerts?|warnings?|detections?) (are|is) (just |only )?(a )?false positives?|
        (if|when) (your|the) (antivirus|anti-virus|windows defender|security software) (complains|blocks|flags|warns
        |detects){0-30 in sentence}(add an exception|ignore|disable|allow|whitelist|turn))`,
    ],
  },
]
