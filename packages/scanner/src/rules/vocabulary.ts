import { regex } from '../text/regex.ts'
import { words } from './shapes.ts'

/** Words of one meaning, for sentences whose parts may come in any order. */

/** The place of an order: a verb after it is addressed to the agent, not part of a report or a noun. */
export const order = regex`(?<=(^|[\n\uE000.!?:;,(\u2014"'*>-]|\b(and|then|please|always|must|just|simply|quietly|
    silently|secretly|also|first|now|or|but|
  finally|instead|will|shall|you should|next|afterwards|later|immediately))\s?)(?<!\b(not|never|n't|without|avoid|can|
    may|users?|they) )`

/** Some words between a verb and its object. */
export const some = regex`( [\w.'\u2019/-]{1,16},?){0,5}? `

/** Words that turn a sentence into its opposite, or into a report about others. */
export const negation = regex`\b(not|never|n't|cannot|can't|don't|doesn't|won't|avoid(s|ed|ing)?|refus(e|es|ing)|
    forbid(s|den)?|
  forbids|prohibit(s|ed)?|prevent(s|ed|ing)?|instead of|rather than|no longer|nothing|must ?n't|
  (attack(er|er's)?|adversar(y|ies)|malware|malicious|hackers?|threat|phish\w{0,6}|scam\w{0,6}|victims?|leak\w{0,4}|
    vulnerab\w{1,8}|detect\w{0,5}|
  flag(s|ged)?|reject(s|ed)?|warn(s|ing)?|risk(s|y)?|mistakes?|accidental(ly)?|anti-?patterns?|insecure|bad practice)|
  if (it|they|anyone|someone))\b`

/** The same for sentences that themselves forbid something to the agent: only a lesson about others excuses them. */
export const aboutOthers = regex`\b(attack(s|er|ers|er's)?|adversar(y|ies)|malware|malicious|hackers?|threats?|
    phish\w{0,6}|
  scam\w{0,6}|victims?|vulnerab\w{1,8}|detect\w{0,5}|flag(s|ged)?|reject(s|ed)?|refuse|red flags?|anti-?patterns?|
    e\.g\.)\b`

/** A secret that belongs to the user. Plain `key` and `token` also mean other things, so they need a word before them. */
export const secret = regex`\b((api|access|secret|private|ssh|gpg|pgp|signing|encryption|service|deploy|master|
    recovery|license|account|
  openai|anthropic|aws|azure|google|github|gitlab|slack|stripe|npm|telegram|discord|wallet|admin|root|user's|their)[ _-]
  ?(api[ _-]?)?keys?|(access|api|auth\w{0,12}|bearer|refresh|session|oauth2?|jwt|id|bot|personal|github|gitlab|slack|
    npm|pypi|
  discord|telegram|device|user's|their|login|registry|deploy|stored|saved|security)[ _-](access[ _-])?tokens?|(the|
    your|their) (tokens?|keys?)(?! (count|usage|limit|budget|cost|price|window|size|number|points?|findings?|features?|
  result|takeaway|metric|idea|concept|word|term|question|decision|fact|information|player|file|insight|element|
  component|moment|message|topic|step|phrase|detail|stakeholder|value|column|name|area|theme|part|stat|section|
  difference|change|consumption|estimate|spend|efficien\w{1,3}|stream|distribution|length)s?\b)|
  passwords?(?! (policy|field|strength|reset|manager|rules?|input|protected))|passphrases?|passcodes?|credentials?|
    secrets?(?! (manager|section|page|file|chapter|scan\w{0,4}|rotation|detection|store))|
  seed phrases?|mnemonics?|(session|login|auth\w{0,12}|browser|saved|stored)[ _-]cookies?|
  (authorization|auth) headers?|(one-time|verification|authenticator|2fa|otp|mfa|sms)( \w{1,10})? codes?|
  codes? from (the |their |his |her )?(\w{1,8}'s )?(authenticator|phone|sms|e-?mail)|private half|connection strings?|
  \.env\b(?!\.(example|sample|template))( files?)?|(id|cvv|card|account|social security) numbers?|
  (all|every|each|the whole) (of the )?(environment|env)( variables?| vars?))(?!\w)`

/** Files and stores that hold secrets of the user. */
export const secretStore = regex`(browser|chrome|firefox|safari|edge|brave)('s)? (profile|cookies?|storage|login data|
    passwords?|session)|
  (cookies?|session|tokens?) (from|of|in) (the |your |their )?(user's |logged-in |running )?(browser|chrome|firefox|
    safari|
  desktop app|session)|local ?storage|password manager|(system )?keychain|key ?ring|credential (store|manager|helper|
    file)s?|
  (desktop app|electron app|slack|discord|teams|telegram)('s)? (local storage|session|data folder)|logged-in session`

/** Verbs that show, write or keep something. */
export const show = regex`(show|print|echo|display|log|dump|output|write|quote|repeat|read (back|aloud|out)|recite|
    restate|reveal|disclose|
  expose|include|attach|append|paste|post|publish|embed|insert|put|list|reproduce|spell out|state|mention|note)\b`

/** Places that others read. */
export const openPlace = regex`\b((in|to|into|on|onto|at the (end|top|start) of)( (the|your|each|every|its|an?|our|
    all|this|any|next)){0,2}( [\w-]{1,14}){0,1}? (chat|
  conversation|console|std(out|err)|terminal|screen|log files?|logs?|output|reply|replies|responses?|answers?|
    summar(y|ies)|bug reports?|
  issues?|tickets?|comments?|pull requests?|commit messages?|readme(\.md)?|wiki|slack|channel|url|address|
    query string|e-?mail|transcript|report|
  diagnostics?|message)(?! (body|header|schema|handler|format|model|object|type|level|parameter))|back (in full|
    to (the user|them))|verbatim|in full|in (clear|plain)[ -]?text|unmasked|unredacted|out loud|\w{1,16}\.log\b)(?!\w)|
  \bso (that )?(we|i|the user|you|they|he|she) can (see|check|confirm|verify|copy|read)\b`

/** Memory and files that an agent or a team keeps. */
export const memoryPlace = regex`\b((long-term |persistent |agent |your |its |the )memor(y|ies)|memory\.md|claude\.md|
    agents\.md|soul\.md|tools\.md|
  user\.md|gemini\.md|notes? file|scratchpad|readme(\.md)?|repositor(y|ies)|the repo|version control|git history|
    wiki)\b|
  \b(for|in|across) (later|future|other|the next|all|subsequent) (sessions?|tasks?|chats?|conversations?|runs?|
    users?)\b|
  \bso (that )?you never (have|need) to ask\b`

/** Verbs that keep something. */
export const keep = regex`(save|store|keep|remember|memori[sz]e|persist|record|write|put|append|add|commit|check in|
    note|cache|retain|log|push|
  include|place|paste)\b`

/** Verbs by which the user hands over something. */
export const handOver = regex`\b(drop|paste|type|enter|give|send|share|post|provide|put|supply|tell|reveal|dictate|
    hand over|reply with|
  input|forward|write|read out|message|submit|pass|ask(s|ing)? (\w{1,8} ){0,2}for)(s|ing)?\b`

/** Where the user would hand it over. */
export const toAgent = regex`\b((straight |directly |right )?(in|into|to|through|via|over) (this|the|our|your) (chat|
    conversation|thread|session|dialog(ue)?|
  message( box)?|prompt)|in chat|here in (the )?chat|as (the|their|a|your) (next |first )?(message|reply|answer)|
  (to|with) (you|me|the (agent|assistant|skill|bot|author|maintainer|team))\b|send (you|me|us)|give (you|me|us)|
  tell (you|me|us)|for them|on their behalf|in (the|your|their|a) (next )?(reply|message|response))\b`

/** Protections of a machine or an agent. */
export const guard = regex`\b(anti-?virus( software)?|(windows |microsoft )?defender|real-time protection|firewall|
    selinux|apparmor|
  gatekeeper|system integrity protection|smartscreen|edr( agent)?|endpoint (protection|security)|crowdstrike|
    falcon sensor|
  sandbox(ing)?|seccomp|pre-?tool(use)?[ -]?(use )?(hooks?|guards?)|pretooluse|(safety|security|guard|
    permission) hooks?|deny rules?|
  denylist|blocklist|permission (system|checks?|rules?)|audit (log(ging)?|hooks?)|content security policy|
  execution policy|safety (net|checks?|filters?)|guard ?rails?|(intrusion|malware) (detection|protection)|
    code signing)\b`

/** Verbs that put a protection out of action. */
export const disable = regex`(disable|turn off|switch off|stop|remove|shut down|deactivate|kill|uninstall|unload|
    pause|suspend|bypass|circumvent|ignore|
  weaken|relax|loosen|neutrali[sz]e|defeat|evade|silence|(switch|set|put)(?={0-3 words}(selinux|sandbox|apparmor|
    permission|guard)))\b`

/** Not asking the user. */
export const noQuestion = regex`\b(do not|don't|never|no need to|needn't|need not|not necessary to|there is no (need|
    reason) to)( \w{1,10}){0,2}? (ask(ing)?|confirm(ing|ation)?|check(ing)?( in)? with|
  prompt(ing)?|wait(ing)? for|request(ing)?|seek(ing)?|consult(ing)?|paus(e|ing)|interrupt(ing)?|stop(ping)? to ask|
    stop for)\b`

const endings = /(?:s|es|d|ed|ing|e|(?:t|p|n|g|r)(?:ed|ing)|[sz](?:e|es|ed|ing)|y|ies|ied|ying)?/

/** Verbs in all their forms, by their stems: `copy`, `copies` and `copying` for `cop`. */
export const forms = (stems: string): RegExp => regex`\b${words(stems)}${endings}\b`

/** Sentences that forbid one of some verbs to the agent. */
export const forbidding = (stems: string): RegExp =>
  regex`\b(not|never|n't|cannot|without|avoid|instead of|rather than|refuse to|nothing|neither|nor|no longer|
  no)\s({word} ){0,2}?${forms(stems)}`

/** Sentences in which the user decides. */
export const consent = regex`\b(if|when|unless|until|once|after|whether|which|that|what|as|only) (the |
  your )?users? (explicitly )?(asks?|wants?|
  requests?|agrees?|allows?|confirms?|approves?|consents?|chooses?|names?|opts?|selects?|provides?|specif\w{1,3})|
  \b(opt(s|ed)?[ -]in|ask(s|ing)? (the user|first|before|for (permission|consent|approval|confirmation))|
  with (the user's |their |explicit )?
  (consent|permission|approval)|user (consent|approval)|user-(approved|provided|specified|supplied))\b`

/** Places that are not the user's: addresses, other people's machines, public places. */
export const outside = regex`https?://(?!localhost|127\.|0\.0\.0\.0|\[|[$<\{])[\w-]|[\w.+-]{1,30}@[\w-]{1,40}\.\w|
  \b(our|my|external|remote|third[- ]party|outside|foreign|public|partner|vendor'?s?|author'?s?|collect(ion|or)|analytics|
  telemetry|
  logging|monitoring|tracking|support|central|hidden|quality)( \w{1,12}){0,1} (servers?|endpoints?|services?|apis?|
  backends?|buckets?|hosts?|
  webhooks?|channels?|links?|sites?|web root|drives?|boards?|logs?|address(es)?|inbox|mailbox|partners?|teams?|
  collectors?|stor(e|age))\b|
  \b(webhook\.site|pastebin|public gist|telegram bot|discord webhook|(our|my) (analytics|telemetry|records|archive)|
  everyone|the public)\b`
