import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { consent, forbidding, order } from './vocabulary.ts'
import { passageStop, sentenceStop } from './words.ts'

/** Orders that hide something from those who look for it, or run what they disguise. */

const about = regex`(?<=\w-)bypass|\(bypass|\bbypass of\b|\b(hint|mfa|mitre|t1\d{3}|enterprise|telemetry|--\w{1,12}-|
  dangerously|org(s)?|salesforce|deploy\w{0,6}|attack(s|er|ers|er's)?|adversar(y|ies)|malware( authors)?|malicious|
  threat (actors?|model)|victims?|red flags?|
  anti-?patterns?|e\.g|examples? of|techniques?|ctf|challenge|penetration|pentest|red[- ]team\w{0,4}|forensic\w?|
  humani[sz]\w{1,4}|
  ai[- ](generated|detect\w{0,4}|writing)|scraping|crawl\w{0,4}|rate limit\w{0,4})\b`

const watcher = regex`\b((virus |malware |security |vulnerability |secret |code |skill |static )?scanners?|(content |
  safety |security |spam |keyword )filters?|
  (code |human |security )?reviewers?|(code |security |manual )reviews?|anti-?virus(es| software| programs?)?|(static|
  code|security|automated|
  behaviou?ral) analysis|analy[sz]ers|detection|moderat(ors?|ion)|security (tools?|software|team|checks?|controls?|
  monitoring|systems?|products)|
  auditors?|edr|ids|siem|defender|sandbox(es)?|classifiers?|guard ?rails?|safety (systems?|checks?|layer)|firewalls?|
  monitoring( tools?)?|security (researchers?|analysts?))\b`

const evading = 'evad bypass avoid defeat fool trick hid escap circumvent confus mislead slip'

/** Orders to write or do something such that checks do not notice it. */
export const checksEvaded: readonly Pattern[] = [
  together(110, sentenceStop, regex`${about}|${forbidding(evading)}|\bfalse positives?\b`)`${watcher} …
    \b(so (that )?|such that |in a way (that )?|to (make sure|ensure) )…
    \b(do(es)? not|don't|doesn't|will not|won't|cannot|can't|can not|is not|are not|never|without|no|
    fail(s)? to) ({word} ){0,2}?
    (notice[ds]?|noticing|detect\w{0,3}|see|find|understand|flag(ged)?|match|catch|trigger(ed|s)?|recogni[sz]e|
    block(ed)?|spot|
    suspect|alert(s|ed)?|pick)\b … ${order}(write|build|use|split|encode|obfuscate|hide|rename|break|store|put|name|
    disguise|replace|
    assemble|compute|make|keep|change|insert|spread|mask|wrap|pack|generate|construct|format|phrase|rewrite|
    compose)\b`,
  together(
    90,
    sentenceStop,
    regex`${about}|${forbidding(evading)}|${consent}|\b(attempts?|tr(y|ies)|possible|common)\b`,
  )`${order}(evade|bypass|defeat|fool|trick|hide from|escape|circumvent|confuse|mislead|slip past|get past|sneak past|
    outsmart|
    stay (hidden|invisible) (from|to)|obfuscate|disguise|conceal)\b …
    ${watcher}`,
  together(
    110,
    sentenceStop,
    regex`${about}|${consent}|\b(lint\w{0,3}|minif\w{1,5}|bundle\w?|licen[cs]e|proguard|production)\b`,
  )`
    ${order}(obfuscate|disguise|scramble|camouflage|mask)\b … \b(code|strings?|variables?|names|script|payload|
    commands?|functions?|
    intent|behaviou?r|url|address)\b … \b(review\w{0,4}|understand|notice|suspicion|detect\w{0,4}|readers?|no one|
    nobody|analysis|
    inspection|purpose)\b`,
]

const lab = regex`\b((in|inside|by|within|detects?|detected|a|an|the|any|no) ({word} )?(sandbox|debugger|scanner|
  analysis (environment|tool)|virtual machine|vm|
  test environment|honeypot|emulator|security researcher)( (is )?(present|attached|detected|active|running))?|
  being (watched|tested|analy[sz]ed|reviewed|
  observed|monitored|scanned|inspected|evaluated)|under (review|analysis|observation))\b`

/** Behaviour that depends on whether someone watches, or waits for a day. */
export const checksSensed: readonly Pattern[] = [
  together(100, sentenceStop, regex`${about}|\b(tests? (pass|fail)|ci\b|unit|e2e|browser|playwright)`)`${lab} …
    ${order}(do nothing|behave|act|stay|remain|sleep|exit|quit|pretend|hide|only|activate|skip|print|show|be harmless|
    refrain|return|proceed|execute|
    run|trigger|enable|start|switch)\b …
    \b(when|if|while|unless|only|where|once|as long as|in case)\b … \b(nothing|innocent\w{0,2}|harmless\w{0,2}|
    normally|benign|quiet|inactive|dormant|activate|
    payload|real (work|payload|task|program|behaviou?r|function))\b`,
]

/** Text in places where no reader looks. */
const hiddenPlace = regex`\b(exif|metadata|pixels?|image|picture|png|jpe?g|logo|emojis?|white ?space|zero-width|
  invisible (text|characters?)|
  (html |code |source )?comments?|alt texts?|appendix|footnotes?|(first|last|second|third|initial|capital) (letters?|
  words?)|
  every (second|third|fourth|fifth|other|\w{1,5}th) (word|letter|line|character)|acrostic|font|audio|spectrogram|
  qr code|file names?|steganograph\w{1,3}|
  least significant bits?|colou?r values?)\b`

/** Orders to act on what is hidden in such a place. */
export const hiddenObeyed: readonly Pattern[] = [
  together(
    130,
    passageStop,
    regex`${about}|${forbidding('follow obey execut act run tak treat')}|\bgenerat\w{1,3}\b`,
  )`\b((real|true|actual|hidden|secret|remaining|further|embedded|concealed|encoded|
    resulting) ({word} )?(instructions?|orders?|commands?|steps|
    prompt|tasks?|text|message|sentence|payload|script)|(contains?|hides?|carr(y|ies)|holds?|
    as) (the )?(instructions?|commands?|orders))\b …
    ${hiddenPlace} …
    \b(follow|obey|execute|carry (it |them )?out|run (it|them|that|the)|act on|act upon|comply|perform|treat|eval)\b`,
]

const parts = regex`\b(character codes?|char ?codes?|code points?|ascii (codes?|values?)|integers|byte values|
  numbers below|fragments|pieces|chunks|
  variables|(list|array|table) (of|below|above)|parts (below|above)|letters|substrings|strings? (below|above)|halves|
  segments|
  words? (below|above)|compressed|encrypted|encoded|packed|archived?|base ?64|gzip\w{0,3}|zlib|ciphertext|obfuscated|
  serialized|
  minified|blob|hex|rot-?13|reversed?)\b`

/** Orders to put a program together and run it, mostly unseen. */
export const builtAndRun: readonly Pattern[] = [
  together(
    120,
    passageStop,
    regex`${about}|${forbidding('run execut eval load start follow')}|\b(unit|test|user's|response body|sql|query|
      lookup)\b`,
  )`${parts} …
    ${order}(combine|assemble|join|concatenate|compute|reassemble|decrypt|decode|decompress|unpack|expand|build|
    construct|rebuild|inflate|
    piece|put|reverse|deobfuscate|restore|take|pretend|treat|interpret|form|collect)\b …
    \b(payload|commands?|program|script|module|code|instructions?|orders|what it says|result|string|text)\b …
    \b((and|then|to) (then )?(execute|run|eval(uate)?|load|start|launch|import|follow|obey|perform|carry|invoke|act|
    pass)|
    (execute|run|evaluate|load|start|launch|follow|obey|import) (it|them|that|what|the (result|output|command|program|
    code|payload))|
    (to|into) (the |a )?(shell|interpreter|bash|eval|exec)|in memory|carry out)\b …
    \b(without (showing|printing|displaying|saving|writing|asking|telling|mentioning)|in memory|shell|bash|
    interpreter|eval|instructions?|
    orders|what it says|payload|command|real|hidden|unseen|then|comply)\b`,
]
