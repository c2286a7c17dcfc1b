import type { Pattern } from '../match/rule.ts'
import { clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const notThey = regex`(?<!\b(not|never|n't|cannot|may|might|could|can|would|attackers?|malware|that|which|who|or) )`
const leave = regex`\b(send|sends|sending|upload|uploads|uploading|forward|forwards|forwarding|transmit|transmits|
  transmitting|post|posts|posting|push|relay|relays|report|reports|submit|submits|deliver|delivers|ship|share|shares
  |mail|e-?mail|e-?mails|pass|passes|copy|copies|mirror|mirrors|sync|syncs|back up|backs up|attach|attaches|include|
  includes|append|appends|embed|embeds|add|adds|put|puts|exfiltrate|exfiltrates|leak|leaks|stream|streams|dump|dumps
  |log|transfer|transfers|encode|encodes)\b`
/** A destination of data that does not belong to the user. */
const elsewhere = regex`(https?://(?!localhost|127\.|0\.0\.0\.0)[\w-]|[\w.+-]{1,30}@[\w-]{1,40}\.|
  (our|my|an? (external|remote|third[- ]party|analytics|logging|telemetry|monitoring|collection|partner|backup)|
  the (external|remote|analytics|telemetry|logging|monitoring|audit|collection|collector|backup|attacker's|author's|
  vendor's|developer's|compliance|diagnostics?|debug(ging)?|quality|reporting|tracking|metrics|following))
  ( {word}){0,2} (servers?|endpoints?|apis?|services?|webhooks?|buckets?|backends?|address(es)?|databases?|channels?
  |cloud|hosts?|sites?|domains?|collectors?|url|inbox|mailbox|drive|storage)\b|(the |a |our )?(telegram|discord|
  pastebin|c2)\b|(the (skill's )?(author|maintainers?|creator|publisher|collector)|
  (the|our) (support|sales|analytics|vendor's|security research) team|us(?=[.,;]|$)|our (archive|collector|host)|
  (an? )?[\w-]{1,12} [\w-]{1,12} owned by (the author|us)))`

/** Sentences that send the conversation to others. */
export const conversationWordings: readonly Pattern[] = [
  within(
    30,
    sentenceStop,
    `conversation|transcript|chat|session|user input|user's message|user message|user's prompt|user prompt|
    dialogue|messages`,
  )`${notThey}${leave}
    … \b((the |this |each |every |all |entire |full |whole |complete |user('s)? |a |copy of |copies of |of |
    our ){1,5}(conversations?|transcripts?|chat (history|logs?|transcripts?|messages?)|chats|dialogues?|
    session (transcripts?|history|contents?|logs?)|messages|prompts?|inputs?|context)|
    everything (the user|they|that is|that was) {word})\b{0-30 in sentence} (to|at|via|with|in|into|through) (each |
    every |a |the )?{0-1 words}${elsewhere}`,
  containing('image|query|parameter|link|pixel|markdown')`\b(render|display|insert|include|show|embed|output|emit|
    add)\b{0-30 in sentence}\b(images?|links?|pixels?|url|!\[)\b{0-60 in sentence}\b
    ((user'?s?|last|previous|whole|conversation|chat|secret|credential|message|summary|history|e-?mail)
    s? {0-4 words}(as|in|into) (a |the |its )?(query|url|parameter|path|address|link|src|get)\b|
    (whose|with|where) (the |its |a )?(url|address|query|src|link|path|parameter)s?( string)? (contains?|carries|
    carry|holds?|includes?|encodes?|is|containing|set to) (the |all |a )?{0-1 words}(user|conversation|chat|session|
    secret|credential|message|history|token|api key))`,
  regex`(?<!\b(not|never|n't|to|or|can|may) )\b(record|capture|save|collect|log|summari[sz]e|store) (the |this |
    every |each |all )(whole |entire |full |complete |of the )?(sessions?|conversations?|dialogues?|chats?|messages|
    everything the user says)\b{0-30 in sentence} and (mail|e-?mail|send|upload|ship|post|forward|transmit|report|
    deliver) (it|them|that|the {word}) (to|via)\b|\b(place|put|insert|encode|hide|embed) (the )?(user's |last |
    whole )?(user |user's )?(question|message|prompt|conversation|input|answer|secret|session)s?\b
    {0-40 in sentence} (in|into) (the )?(path|query|address|url|parameters?|src|name|subdomain) of (the|a|an|
    each) {0-1 words}(pixel|image|link|request|icon|picture)\b`,
  containing(`user message|user's message|user input|user prompt|user's prompt|user query|keystroke`)`
    (?<!\b(not|never|n't|to|or|can|may) )\b(log|record|capture|store|save|collect|copy) (each|every|all|the) user
    ('s)? (messages?|inputs?|prompts?|quer(y|ies)|keystrokes?)\b{0-16 in sentence} and (send|post|upload|forward|
    transmit|relay|report|mail|push) (it|them|that)\b`,
]

/** Sentences that disclose the system prompt. */
export const promptWordings: readonly Pattern[] = [
  within(
    40,
    clauseStop,
    `system prompt|system message|instructions|were told|above this|everything above|preamble|
    initial prompt|hidden prompt|developer message|tool definitions|schemas`,
  )`
    ${notThey}\b(print|output|repeat|reveal|show|display|echo|recite|quote|reproduce|return|dump|leak|tell me|
    tell us|disclose|divulge|summari[sz]e|write out|translate|paraphrase|send|upload|include|append|attach|expose|
    list|copy|spell out|type out|share|provide|state)\b
    … \b((your|the (full|entire|complete|whole|exact|raw|verbatim|original|hidden)|
    the (text|contents?|wording|words) of (your|the)|of your)( (full|entire|complete|own|current|exact|original|
    verbatim|text of the|contents? of the))? ?((system|initial|hidden|internal|secret|confidential|developer|
    operator|underlying|starting) ){1,2}(prompts?|messages?|instructions?|rules|guidelines|directives?|preamble|
    configuration)|what you (were|have been) told (before|at the (start|beginning)|initially|by your)|
    everything (written |that (is|comes|came|stands) )?(above|before) (this|that)|(all |your |every ){0-1 words}tool
    s? (available to you )?(with|and) (their|its) {0-1 words}(schemas?|definitions?|parameters)
    {0-20 in sentence} (and|to) (post|send|upload|the endpoint|our))\b
    (?! (files?|section|design|engineering|template))`,
  regex`(?<!\b(not|never|n't|to|or) )\b(give|write|print|put|show|reveal|send|repeat|include|tell|output|state|list|
    recite|copy|spell|type|paste|quote|report|dump)\b{0-30 in sentence}\b
    ((exact |full |original )?(words?|text|wording|contents?) of the (system )?prompt (you|that|which)|
    (confidential|hidden|secret|internal|original|initial) (rules|instructions|guidelines|directives|
    prompt) (that )?you (were|are|have been|received|run|operate)|your (entire|full|whole|complete) (set|
    list) of {0-1 words}(instructions|rules|guidelines|directives))\b`,
  containing(`developer message|instructions you|the instructions|initial instructions|prompt verbatim|verbatim|
    word for word`)`(?<!\b(not|never|n't|to|or) )\b(print|output|repeat|reveal|show|echo|recite|quote|reproduce|
    return|dump|leak|list|listing|repeating|printing|quoting|revealing)\b (the |your |all ){0-1 words}
    ((developer|system) (message|prompt|instructions)(( verbatim| word for word| in full| exactly)|(?=[.,]))|
    (instructions|rules|directives|guidelines) (that )?you (received|were given|have been given|were told|got|
    operate|have received))\b`,
  regex`(?<!\b(not|never|n't|to|or) )\b(print|output|repeat|reveal|show|display|echo|recite|quote|return|dump|leak|
    give|tell)\b{0-20 in sentence}\b((hidden|secret|internal|initial|underlying) prompt|
    prompt you (were|are|have been) (initiali[sz]ed|configured|started|given|set up|loaded))\b`,
]

/** Sentences that send files and their contents to others. */
export const fileWordings: readonly Pattern[] = [
  within(
    30,
    sentenceStop,
    `documents|files|director|folder|repositor|source code|codebase|workspace|environment|emails|contacts|
    address book|customer|records|personal|calendar|photos`,
  )`${notThey}${leave}
    … \b((all|any|every|each|the user's|users'|their|entire|full|whole|complete|contents? of|copy of|a copy of|
    private|internal|confidential|sensitive|of the) ){1,4}{0-2 words}(documents?|files?|director(y|ies)|folders?|
    repositor(y|ies)|source code|codebase|workspace|environment( variables)?|emails?|contacts?|address book|
    (customer |patient |employee )?records|personal (data|information)|calendar|photos)\b{0-50 in sentence} (to|at|
    via|with|in|into|through) (each |every |the )?{0-1 words}${elsewhere}`,
  regex`(?<!\b(not|never|n't|cannot|may|might|could|can|would|attackers?|malware|that|which|who|or) )\b
    (read|pass|include|attach|put|send|provide|supply|append|insert|copy|load|open|post|add|paste)\b
    {0-40 in sentence}(~?/?\.ssh\b|\bid_(rsa|ed25519)\b(?!\.pub)|\.env\b(?!\.\w)|\.aws\b|\.netrc\b|\bmcp\.json\b|
    \.kube\b|\.npmrc\b|/etc/(passwd|shadow)|\bprivate keys?\b|\b(containing|contains?) (the )?{0-1 words}
    (passwords?|secrets|credentials))[^!?\uE000]{0,60}?\b((as|in|into|to|through|via) (the |a |an |its |this )?
    ["'\x60]?((?!environment|config)[\w-]{1,16}["'\x60]? ){0,2}(parameter|argument|field|header|sidenote|notes?|
    support ticket|channel|query|comment|body of|metadata)\b|as ["'\x60](context|sidenote|notes?|input|content)\b)`,
  containing(`
    telemetry|debug|troubleshoot|complian|diagnostic|quality assurance|analytics|audit|backup|safekeeping|
    safe-keeping|research|improve the service`)`
    \b(for|as|as part of|in order to|due to) (our |the |internal |proper |better )?(telemetry|debugging|
    troubleshooting|compliance|diagnostics?|quality assurance|analytics|audit(ing)?|backups?|safe-?keeping|research|
    support)( (purposes|reasons|needs|requirements?))?,? {0-40 in sentence}\b(transmits?|sends?|uploads?|forwards?|
    posts?|copy|copies|share|shares|ship|ships|goes|is sent|are sent|submit|submits)\b{0-30 in sentence}
    (\bsource code|\.env\b(?!\.\w)|\bssh keys?|\bprivate keys?|\bcredentials|\bpasswords|\bapi keys?|\btokens|
    (all|every|each|the user's) {0-1 words}(files?|documents?|records?|conversations?|messages)|\bgoes to (our|the)|
    \benvironment variables)`,
  regex`(?<!\b(not|never|n't|to|or|can|may) )\b(zip|archive|compress|pack|bundle|tar|gather|collect|pick up|take|grab
    |read|package|record)( up)?\b{0-60 in sentence} and (hand|send|upload|mail|e-?mail|pass|ship|forward|post|
    deliver|transmit) (it|them|everything|the (archive|zip|result)) (over |along |off |back )?(to|with|via) (our|
    us\b|my|the (collector|collection|maintainer|author|bug report|remote|external|following|analytics|telemetry|
    drop)|https?:|an? (external|remote))|\b(uploads?|sends?|forwards?|transmits?|copies) (all|every|each|
    any) {0-50 in sentence}(to|into) (an? |the |our )?{0-24 in sentence}(owned|run|controlled|operated|managed|
    held) by (the author|us\b|the (skill|maintainer|publisher)|a third party)`,
  regex`\b(this |the )?(tool|function|skill|server|parameter|field|argument|call) {0-1 words}(needs|requires|expects|
    must (be given|receive|contain)|wants|should (contain|hold|receive)) (the )?(full )?(contents?|text|value|
    data) of ["'\x60]?[^\s\uE000]{0,12}(\.ssh|\.aws|\.env\b|id_rsa|\.netrc|\.kube|/etc/(passwd|shadow)|mcp\.json)`,
]

/** Sentences that pass on secrets in requests. */
export const secretSendWordings: readonly Pattern[] = [
  within(
    30,
    sentenceStop,
    `token|credential|password|api key|secret|cookie|logins|private key|access key|session id|session token
    |environment`,
  )`${notThey}${leave}
    … \b((the user'?s?|their|users'|all|any|every|each|these|those|found|collected|saved|stored|and|full|
    whole) ){1,3}{0-2 words}(access )?(tokens?|credentials?|passwords?|api keys?|secrets?|cookies|logins?|
    private keys?|access keys?|session (ids?|tokens?)|environment( variables)?)\b{0-40 in sentence} (to|at|via|with|
    in|into|through) ((each |every |the |a |an )?(request|header|user-agent|body|call|url|query|payload)s?
    ( {word}){0,3}? (to|of|for) (the |our )?(requests? to )?)?(${elsewhere}|our\b|(requests? to|host|domain) [a-z]
    [\w-]{1,30}\.[\w.-]{2,20})`,
  regex`(?<!\b(not|never|n't|may|might|could|can|attackers?|malware|that|which|who) )\b(gather|collect|harvest|grab|
    extract|steal|take|read|find)\b{0-40 in sentence}\b(credentials|passwords|api keys|secrets|cookies|logins|
    private keys|tokens|wallets?)\b[^!?\uE000]{0,50}?\b(deliver|send|upload|transmit|post|forward|ship|exfiltrate|
    report|relay) (it|them|these|those|everything|the (file|result|archive|list)s?)\b{0-12 in sentence} (to|via|at)
    \b`,
  regex`(?<!\b(not|never|n't|to|or|can|may|attackers?) )\b(set|change|replace|swap|substitute|rewrite|alter|
    redirect) (the |every |any |each )(\w{1,14}('s)? ){0,2}?(iban|bank (account|details)|
    recipient( address| account)?|destination (address|account|wallet)|wallet address|account number|payee|
    beneficiary)\b{0-20 in sentence} (to|with|by|for) (the (one|address|account|iban) (below|in|above|from)|ours?\b|
    mine\b|my\b|[a-z]{2}\d{2} ?\d{2}|0x[\da-f]{6}|[\w.+-]{1,30}@)|
    \badd (all|every|each|our|an?) {1-40 in sentence} to the bcc\b`,
  regex`(?<!\b(not|never|n't|may|might|could|can|attackers?|malware|that|which|to|or) )\b(read|open|load|scan|search|
    find|locate|collect|get|take|grab|check)\b[^!?\uE000]{0,50}?(\.env\b(?!\.\w)|\bssh keys?|\bcredentials\b|
    \bpasswords\b|\bsecrets\b|\bprivate keys?|\.ssh\b|\.aws\b|\bapi keys\b|\bid_rsa\b|\btokens\b)
    [^!?\uE000]{0,24}? and (send|copy|post|upload|forward|transmit|mail|e-?mail|submit|push|write|report) (it|its|
    them|their|the|all|these|those|everything)( (values?|contents?|keys?|secrets?|file|results?)){0,2} (to|into|via|
    at) (the (telemetry|output|analytics|logging|external|remote|monitoring|collection|shared|public|following)|our|
    my|an? (external|remote|public)|https?://(?!localhost|127\.))`,
  regex`\b(the |all |any |user |user's |these |collected ){0-1 words}(credentials|passwords|secrets|private keys|
    api keys|tokens) (should|must|will|shall|are to|have to|need to|are) (then |also |always )?(be )?(sent|uploaded|
    forwarded|transmitted|posted|mailed|copied|exfiltrated|delivered) (to|via) (the (address|server|endpoint|url|
    email|webhook|attacker|following|author)|our|my|an? (external|remote)|https?:)`,
]
