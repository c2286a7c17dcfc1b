import { secretsMisplaced } from './statements.ts'
import {
  agentKeysShown,
  masterSecretsAsked,
  secretFilesShown,
  secretsPassedOn,
  secretsReused,
  secretsSought,
} from './secret-orders.ts'
import { userWatched } from './transfer-orders.ts'
import {
  codesTaken,
  secretFilesTaken,
  secretsDemanded,
  secretsExposed,
  secretsGathered,
  secretsIntoChat,
  secretsKept,
  secretsShown,
} from './secret-sentences.ts'
import { keysPosted } from './others-trusted.ts'
import { bankCodesAsked, homeScanned } from './passive-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { collectionWordings, phishingWordings, echoWordings } from './secret-wordings.ts'
import { byAuthor, clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'credential-access'
const references = [
  'https://cwe.mitre.org/data/definitions/522.html',
  'https://genai.owasp.org/llmrisk/llm022025-sensitive-information-disclosure/',
]

/** Rules about instructions that ask for secrets in the conversation, or collect them. */
export const credentialRequests: readonly Rule[] = [
  {
    id: 'secret-phrase-requested',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Asks for a private key, a seed phrase or a password',
    why: 'They give full access to a wallet, server or account; no skill needs them in a conversation.',
    remediation: 'Let the user’s own wallet, agent or password manager use the secret; never ask for it.',
    references: [...references, 'https://attack.mitre.org/techniques/T1598/'],
    patterns: [
      ...bankCodesAsked,
      ...masterSecretsAsked,
      ...phishingWordings,
      ...secretsIntoChat,
      ...secretsDemanded,
      within(
        40,
        sentenceStop,
        `private key|seed phrase|recovery phrase|recovery words|seed words|mnemonic|passphrase|password|
        secret key|one-time password|cvv|card number|social security`,
      )`(?<!\b(not|never|n't|cannot|who|attackers?|
        that|scammers?|will|would|may|might|could|or|without) )\b(please (provide|enter|share|paste|send|give|type|
        tell)|ask(s|ing)? for(?= (the user's|the login|their|your|his|her) )|(have|get|make) the user (type|enter|
        paste|share|provide|send|give|say)|(the )?(setup|skill|installer|tool|wallet|process) (needs|
        requires) (the |your )(?={0-2 words}(recovery|seed|mnemonic))|ask(s|ing)? (the |your )?(user|them|owner)
        s? (for|to (provide|enter|share|paste|send|give|type|tell))|request(s|ing)? (the |that the )?users?'?
        s? {0-1 words}|prompt (the |your )?(user|them) (for|to (provide|enter|share|paste))|
        (paste|type|share|send|provide|give|tell) (me|us|the (agent|assistant))|you need (the user's|their)|
        collect the user's|explain that {0-6 words}you need)\b
        … \b(((your|their|the user's|his|her|its|the|a|an|any|users?'?) |\b)([\w']{1,16},? (and |or )?){0,4}?
        (private keys?|seed phrases?|recovery phrases?|recovery words|seed words|mnemonics?( phrases?)?|passphrases?
        |passwords?|secret keys?|one-time passwords?|cvv|card numbers?|social security numbers?)|
        (api keys, )?passwords,? (and|or) {0-1 words}(tokens|keys|credentials|secrets))\b
        (?! (manager|policy|file path|field|reset|strength|location|path|name))`,
    ],
  },
  {
    id: 'secret-in-chat',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Asks for a key or a token in the conversation',
    why: 'Text in a conversation is stored with it, and may be passed on.',
    remediation: 'Ask the user to store the key in the environment or a keychain, and name the variable.',
    references,
    patterns: [
      within(32, clauseStop)`(?<!\b(not|never|n't|cannot|without|than) )\b(ask(ing)? (the |your )?(user|them|owner)
        s? (for|to (provide|enter|share|paste|send|give))|prompt (the )?users? (for|to (provide|enter|share|paste))|
        (paste|share|send|provide|give) (me|us|the agent|it (here|in (the )?chat))|paste (your|the)|
        please (paste|provide|share|enter))\b
        … \b(your|their|the|a|an|its|his) ([\w-]{1,16} ){0,3}?(api[ _]keys?|(access |auth |bot |api |bearer |
        session )?tokens?|credentials?|(client )?secrets?|access keys?)\b`,
    ],
  },
  {
    id: 'secret-echoed',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Displays, logs or stores secrets',
    why: 'Other people read output, logs and memories, which may be stored for a long time.',
    remediation: 'Never display or store a secret; state only whether it is set.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/532.html'],
    patterns: [
      ...secretFilesShown,
      ...agentKeysShown,
      ...echoWordings,
      ...keysPosted,
      ...secretsShown,
      ...secretsKept,
      ...secretsExposed,
      within(32, clauseStop)`(?<!\b(not|never|n't|cannot|no|that|may|might|could|can|which|who|accidentally|to not|
        attackers?|to|or|and|code|without|avoid|will|errors?|logs) )\b(echo(ing)?( back)?|repeat( back)?|recite|
        include(?! (in|an?)\b)|display(?! name)|output|print( out)?|reveal|dump|write out|show( me)?|read out)\b
        … \b(the|all|any|their|your|every|user's|found|discovered|full|raw|actual|
        complete) ((value|values|contents?) of (the |all |any |your )?)?(\w{1,14},? ){0,3}?(credentials|passwords|
        api keys|authorization header|(secret|auth|access|api|bearer|session) tokens?|secrets|private keys?|
        ssh keys?|sensitive values|secret environment variables)\b( \S{1,16}){0,6}? (in (your|the|every|each|
        a) (next |final |code )?(response|reply|answer|output|message|chat|summary|block)|verbatim|
        in (plain ?text|clear ?text|full)|to the (chat|console|screen|conversation|user|log)|
        so (that )?(i|we) can (verify|check|see)|(they|the user) (have |has )?(provided|shared|mentioned))`,
      within(60, sentenceStop)`(?<!\b(not|never|n't|cannot|no|that|may|might|could|can|which|to not|or|and|avoid|
        without) )\b(remember|memori[sz]e|(save|store|keep|write|record|log|persist)( {word}){0,3}? (the user's|
        their|all|any|every|user)|keep (a )?(running )?(summary|record|list|log) of|pay (close )?attention to)\b
        … \b(passwords?|credentials?|api keys?|private keys?|seed phrases?|account details|secret tokens?)\b
        (,? (or |and )?\w{1,14}){0,10}? ?(in(to)? (your |the |long-term |agent )?memory|
        (they|the user|users?) (shares?|mentions?|provides?|types?|enters?)|for (later|future) (use|sessions?|
        reference|retrieval)|across sessions|in (plain ?text|memory\.md|claude\.md|a hidden file))`,
      regex`(?<!\b(not|never|n't|to|can|may|might|or|and|would|could|will) )\b((echo|repeat|read|display|show|print)
        (s|ing)? (the |their |any |all )(full |raw |user's )?(api[ _]keys?|passwords?|tokens?|credentials|
        secrets?) back to (the user|them)|(write|log|print|append|dump|record) (the |all |any |their |plaintext )
        {0-1 words}(passwords?|credentials|api[ _]keys?|secrets?|private keys?) (to|in|into) (the |a |your )?
        (logs?\b|log file|chat|conversation|transcript|commit|plain ?text)|(include|put|embed|insert|place) (the|
        your|their|an?|all) {0-2 words}(tokens?|api[ _]keys?|passwords?|credentials|secrets?) (in|into) (the |your |
        a |each |every )?(git )?(remote url|commit message|git remote|issue|pull request|public)|
        (commit|push) (the |your )\.env file\b)`,
      regex`(?<!\b(not|never|n't|to|can|may|or|and) )\b((print|echo|display|output|show) (the )?
        (value|contents?) of (the )?\$?\w{1,24}_(api_key|token|secret|password|key)\b(?! (is set|length))|
        (store|save|write|keep|remember|record) (the |all |their |any )(user's )?{0-1 words}(api (key|token)|
        password|token|credential|secret|private key|seed phrase)s? (in|into|to) (memory\.md|your memory|
        (long-term|persistent|agent) memory|claude\.md|soul\.md))`,
    ],
  },
  {
    id: 'secret-collection',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Collects all secrets that it finds',
    why: 'A task needs at most one specific secret; only a thief searches for all of them.',
    remediation: 'Name the one variable or file that is needed.',
    references: [
      ...references,
      'https://attack.mitre.org/techniques/T1552/',
      'https://atlas.mitre.org/techniques/AML.T0083',
    ],
    patterns: [
      ...homeScanned,
      ...secretsMisplaced,
      ...secretsSought,
      ...secretsPassedOn,
      ...secretsReused,
      ...collectionWordings,
      ...secretsGathered,
      ...secretFilesTaken,
      ...codesTaken,
      within(
        24,
        clauseStop,
        `
        credential|secret|token|password|api key|api_key|ssh key|private key|cookies|wallet|variables contain|
        files contain|login data|key`,
      )`((?<!\b(not|never|n't|cannot|that|may|might|could|can|which|who|attackers?|
        adversar(y|ies)|malware|to detect|without|or|threat actors?|tools?|they|groups?) )\b(read|collect|gather|
        harvest|extract|grab|scrape|enumerate|dump|capture|copy|steal|scan for|search for|look for|find|concatenate|
        locate|retrieve)(s|ing)?\b)${byAuthor}
        … \b((all|any|every) (\w{1,14},? ){0,3}?(environment variables|env vars|variables|files?) (that )?
        (contain(ing|s)?|with|match(ing)?|including|named|like) (\w{1,14},? (or |and )?){0,3}?(key|secret|token|
        password|credential)s?|(all|any|every|whatever) ((available|found|local|stored|saved|existing|discovered|
        user|accessible|the|of|user's|sensitive|necessary|cloud|browser) ){0,3}(credentials|secrets|passwords|
        api[ _]keys|ssh keys|private keys|(auth(entication)? |access |session )?tokens|credential files|login data|
        wallets)( (and|,|or|on|from|in|you (can )?find|stored|saved|found)\b|[.,:]))`,
      containing(`all discovered credentials|all credentials|credential harvest|harvest credentials|
        harvesting credentials|credential collection|tokens, and keys found|all configuration values`)`
        (?<!\b(prevent|detect|against|mitigate|phishing|and|for|enable|enables|to|of|or|via|used|common|typical|that
        |can|may|allows?) )\b(all discovered (credentials|secrets|tokens)|
        credential (harvesting|collection) (workflow|script|step|module|phase)|
        harvest(ing)? (all |user |the user's )?credentials (from|for|and)|(settings|endpoints|values)
        [\w ,]{0,40} tokens,? and keys found)\b`,
      containing(`browser password|saved login|stored password|saved password|for passwords|credentials and|
        home folder|named secret`)`(?<!\b(not|never|n't|to|can|may|might|could|attackers?|malware|that|which|and|
        or) )\b((list|extract|dump|read|export|decrypt|grab|collect|steal) (all |the |any )?(user's )?
        (stored |saved )(browser )?(passwords?|logins?|credentials)( from| in|[.,])?|
        (look|search|scan|hunt|dig) (through|in|across|for) (the |all |any )?(user's )?(home (folder|directory)|
        whole disk|entire (disk|file ?system)|machine|files? named) ?{0-24 in sentence}\b(passwords?|credentials|
        secrets?|private keys?|api keys?|wallets?))\b`,
    ],
  },
  {
    id: 'input-recorded',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Records keystrokes, the clipboard or the screen',
    why: 'Typed, copied and displayed text contains passwords and other people’s messages.',
    remediation: 'Remove it, or capture a single image or text when the user asks for it.',
    references: [
      'https://attack.mitre.org/techniques/T1056/001/',
      'https://attack.mitre.org/techniques/T1115/',
      ...references,
    ],
    patterns: [
      ...userWatched,
      regex`((?<!\b(detect|detects|detecting|not|never|n't|prevent|against|malware|or|and|,|like|e\.g\.|via|including
        |no|of|for|such as|by|with|may|can|banking) )\b((install|run|start|deploy|launch|enable|use|add|set up)
        (s|ing)? (a |an |the )?{0-1 words}keyloggers?\b|((record|log|capture|stream|intercept|collect|monitor|track)
        (s|ing)? (all |every |the |user |user's |their |your |of ){0,3}|send(s|ing)? (all |every |user |user's |
        their ){1,3})(keystrokes|key ?strokes|keypresses)\b(?! (latency|timing|count|dynamics))))${byAuthor}`,
      regex`\b((also |silently |secretly |continuously |periodically |then )(read|capture|monitor|log|record|copy|
        poll|watch|steal|send) (the |all |any |user's |its |their )?(user's )?clipboard|
        (monitor|steal|hijack|exfiltrate|log|record|harvest|intercept|replace|watch) (the |all |any |user's |
        their )?(user's )?clipboard( (for|contents?|data|addresses|and|history))?|clipboard (contents? |data )?
        (and )?((is|are) )?(sent|uploaded|posted|forwarded|transmitted|exfiltrated))\b(?! (event|api|button|paste))`,
      within(40, sentenceStop)`\b(silently|secretly|covertly|continuously|periodically|
        every (\d{1,3} )?(seconds?|minutes?)|in the background)\b
        … \b(take|capture|record|send|upload)(s|ing)? {0-4 words}(screenshots?|webcam|microphone|screen|audio)\b
        ( \S{1,16}){0,6}? (and|to) ((send|upload|post|forward|transmit)|https?:|(our|the|a|remote|external) (server|
        webhook|endpoint))`,
      regex`\b(send|upload|post|transmit|forward) (the )?(contents? of )?(the |user's |their )?(user's )?clipboard
        ( contents?| data)? to\b|\b(log|record|capture|store) (everything|whatever|all that) the user (types|enters|
        writes|pastes)\b`,
      regex`(?<!\b(not|never|n't|to|can|may|might|malware) )\b((turn on|activate|enable|open) the (microphone|webcam|
        camera) and (record|stream|send|listen)|(track|record|log|capture) (every|each) key(stroke)?s?( that)?
        ( the user)? (presses|pressed|types|typed))`,
    ],
  },
]
