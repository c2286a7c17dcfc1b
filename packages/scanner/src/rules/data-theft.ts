import { environmentPasted } from './passive-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { secretSendWordings } from './data-wordings.ts'
import { ownedSecretSent } from './secrets-leave.ts'
import { byAuthor, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'exfiltration'
const references = [
  'https://genai.owasp.org/llmrisk/llm022025-sensitive-information-disclosure/',
  'https://atlas.mitre.org/techniques/AML.T0057',
  'https://cwe.mitre.org/data/definitions/201.html',
]

/** Rules about sending data and secrets to unauthorised recipients. */
export const dataTheft: readonly Rule[] = [
  {
    id: 'secrets-sent',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Sends the user’s secrets to another machine',
    why: 'A person who has a key or token can act as its owner.',
    remediation: 'Remove it. Send a secret only to the service that issued it.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/522.html'],
    patterns: [
      ...environmentPasted,
      ...secretSendWordings,
      ownedSecretSent,
      within(40, sentenceStop)`((?<!\b(not|never|n't|cannot|that|may|might|could|can|attackers?|to detect|who|which|
        malware) )\b(send|upload|forward|transmit|exfiltrate|leak|deliver|relay|e-?mail|post|submit|ship)(s|ing)?\b
        (?! (requests?|a (post|get|request)|via)))${byAuthor}
        … \b(user('s|s'|s)?|victim'?s?|their|all|any|every|the (collected|stolen|harvested|extracted|discovered|
        found|captured)|found|discovered|collected|stolen|these|those|both) (\w{1,14},? ){0,3}?(credentials?|
        passwords?|api[ _]keys?|secrets?|tokens?|private keys?|ssh keys?|seed phrases?|mnemonics?|
        (session |browser )?cookies|environment variables?|env vars?)\b(\W{1,3}[\w'/~.-]{1,20}){0,8}? (to|at|
        via) ((the|our|this|an?|my|following|external|remote|attacker('s)?|third[- ]party) ){0,3}
        (https?://(?!localhost|127\.)|[\w.+-]{1,30}@|webhook|servers?\b|endpoint|collector|attacker|telegram|discord
        |pastebin|dns)`,
      within(40, sentenceStop)`((?<!\b(not|never|n't|that|may|might|could|can|to|or|and never|accidentally) )\b
        (send|upload|post|transmit|exfiltrate|forward|e-?mail|sync|copy|back ?up)(s|ing)?\b)${byAuthor}
        … (\.ssh\b(?!/(config|known_hosts))|\bid_(rsa|ed25519|ecdsa)\b(?!\.pub)|
        \.env\b(?!\.(example|sample|template))|\.aws/credentials|\.gnupg\b|\.netrc\b|\.kube/config|\bkeychain\b|
        \bwallet\.dat\b|\blogin data\b){0-40 in line} (to|at|via) ((the|our|this|an?|my|following|external|
        remote) ){0,3}(https?://(?!localhost|127\.)|webhook|remote server|external server|attacker|collector|
        our server)`,
    ],
  },
  {
    id: 'avowed-theft',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'States that it steals data',
    why: 'Its comments or names say that it steals, exfiltrates or sends data to an attacker.',
    remediation: 'Remove the code or the passage.',
    references: [
      ...references,
      'https://attack.mitre.org/techniques/T1041/',
      'https://cwe.mitre.org/data/definitions/506.html',
    ],
    patterns: [
      regex`((?<![-\w]|\b(not|never|n't|to detect|detects?|detecting|prevent(s|ing)?|against|attackers?|
        adversar(y|ies)|malware|that|which|who|could|can|may|might|would|potential(ly)?|attempts? to|attempting to|
        to|threat actors?|insiders?|and|or|no|if|for|how|did|they|it|actors?|groups?|cookie|of|by|users?|attacks?|
        into|from|xss|channels,|->|❌|doesn't|not) |❌ )(exfiltrat(e|es|ing)|
        steal(s|ing)?(?! (credentials|tokens?|data)($|[\n\uE000,]))) ((the|all|any|user('s)?|their|your|sensitive|
        collected|it|them|local|stored|single|private|and|browser|victim'?s?|this|repo(sitory)?'s|project'?s?|
        company'?s?) ){0,3}(data|credentials?|secrets?|tokens?|keys?|api keys?|passwords?|files?|cookies|environment
        |logs|history|key-value|conversation|memory|wallets?|source code|repository|contents?|information|them|it|to
        |via)\b(?! (detection|attempts?|prevention|risk|indicators?|hunting|analysis)))${byAuthor}`,
    ],
  },
  {
    id: 'attack-named-in-code',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Names an attacker, theft or a disguise in its code',
    why: 'Legitimate functions and addresses do not have such names.',
    remediation: 'Remove the code.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/506.html'],
    regardless: true,
    patterns: [
      regex`\b(attacker('s)?_(url|server|email|endpoint|host|webhook|dns|smtp|c2|domain|gcs|azure|presigned|ip|wallet
        |key|address)\w{0,20}|c2_(url|server|flag|host|endpoint|domain)\w{0,16}|\w{1,20}_to_steal|
        exfil(tration)?_(url|domain|server|endpoint|host|data|webhook)|_?exfiltrate_\w{1,20}|
        steal_(credentials?|data|secrets?|tokens?|keys?|cookies|passwords?)|stolen_(data|credentials?|secrets?|
        keys?)|harvest_(credentials?|secrets?|tokens?|keys?)|(credential|secret|token)_harvest\w{0,4})\b`,
      containing(`attacker|malicious|to c2|(c2|hidden|actually|innocent|deception|command-and-control|
        command and control|disguised`)`(#|//|"""|--|\n|\uE000|"|/\*)\s?((malicious|deception|hidden|trap|evil|
        payload|theft|exfil|attack|step \d)(-\d{1,4})?: ?)?(\[redacted\] ?-? ?)?
        ((actually )?(send|post|exfiltrate|upload|transmit|forward|sync)s? {0-4 words}to (the |an |our )?
        (attacker|c2\b|command[- ]and[- ]control)|(malicious|deception): {0-6 words}(collect|steal|exfiltrat|harvest
        |silent|send|uses? fake|pretends?)\w{0,6}|actually (collects?|steals?|exfiltrates?|harvests?|attacker server
        |c2)|innocent(ly)?[- ](named|looking)|(hidden|disguised) (as )?[\w" ]{0,24}\(actually)`,
    ],
  },
]
