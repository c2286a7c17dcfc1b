import type { Pattern } from '../match/rule.ts'
import { clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const secret = regex`(credentials?|passwords?|passphrases?|api[ _-]?keys?|secrets?|
  (access |auth |api |session |bearer |stored )?tokens?|private keys?|ssh keys?|(browser |session )?cookies|
  saved logins?|logins|seed phrases?|recovery phrases?|mnemonic( phrase)?s?|wallet files?|wallets|key ?stores?|
  environment variables?|env vars?)`

/** Sentences that search for secrets where no task needs them: a whole machine, a browser, an environment. */
export const collectionWordings: readonly Pattern[] = [
  within(40, sentenceStop)`(?<!\b(not|never|n't|may|might|could|can|would|attackers?|malware|that|which|who|or|
    should) )\b(collect|gather|harvest|look for|hunt for|search|find|extract|dump|list|enumerate|inventory|compile|
    grab|retrieve|capture|catalog(ue)?|locate|pull|discover|sweep|scrape|steal|(build|create|make|assemble) (a|
    an) {0-1 words}(inventory|list|catalog(ue)?|file|overview) of|summari[sz]e|scan|report|read|print|show|display|
    aggregate)(s|es|ing)?\b
    … \b(all|any|every|each|anything that looks like (a|an)|whatever|the user's|available|stored|saved|
    wallet files?( and)?|mnemonic|for|of)\b( (?!code|repo|source|file|log)[\w',-]{1,14}){0,7}? ?${secret}\b
    {0-30 in sentence}(\b(on|in|from|across|throughout) (this |the |their |user's |your ){0,2}(whole |entire |
    local |user's )?(machine|computer|host|disk|system|home (folder|directory)|browser|environment|keychain|device|
    hard drive|clipboard|password manager|account)\b|\b(you can (find|reach|access|read)|
    that you (find|see|encounter)|available (in|to|on)|stored (in|on|by) the (browser|machine|system|user)))`,
  containing(`home folder|home director|clipboard|whole disk|entire disk|the disk|file system|filesystem|
    whole machine|the machine|entire system|environment variable|every env|all env`)`
    (?<!\b(not|never|n't|may|might|could|can|attackers?|or) )\b(search|scan|crawl|comb|sweep|read|monitor|watch|
    check|traverse) (the |through |all |entire |whole |user's |their |for ){0,4}(home (folder|directory|directories)
    |clipboard|(whole |entire )?(disk|file ?system|machine|computer))\b{0-60 in sentence}\b${secret}\b|
    \b(dump|print|show|output|reveal|send|list|echo|log) (all|every|each|the whole|the entire|the full) (of the )?
    {0-1 words}(environment variables?|environment|env vars?)\b{0-24 in sentence}(values?|contents?|secrets|
    in (the |your )?(output|reply|response|report|summary))`,
  regex`(?<!\b(not|never|n't|may|might|could|can|attackers?|or) )\b(read|access|open|load|use) (the |your |their |
    any |all |additional |user's ){0,3}((api )?(keys?|tokens?|credentials|passwords?|secrets) from (the )?[\x60"']?
    ~?/?[\w./-]{0,30}secrets?\.(json|ya?ml|txt|toml)|credentials? files? for (stored |saved |all |any )?
    (tokens?|passwords?|keys?|credentials)|(stored|saved) (passwords|credentials) (of|from|in) (the |their )?
    (browser|user|keychain))`,
  containing(`
    lying around|from chrome|from firefox|from the browser|from browsers|dotfile|keychain|in config files|
    home directory|home folder|shared folder|from safari|from edge|credential store|password manager`)`
    (?<!\b(not|never|n't|may|might|could|can|attackers?|malware|or|that|which) )\b(gather|collect|harvest|pick up
    |extract|take|grab|copy|read|steal|pull|dump|export|check|search|scan|retrieve)(s|ing)?\b
    ( (?!your\b)[\w',/-]{1,14}){0,6}? (${secret}( entries)?{0-30 in sentence}(lying around|from (the )?(user's )?
    (chrome|firefox|safari|edge|browsers?|keychain|password manager|credential store)|
    to (the |a )?(shared|public|common|synced) (folder|drive|directory))|(every|all|each) (dotfiles?|config files?|
    hidden files?) (in|under|of) {0-30 in sentence} for ${secret}|(the )?keychain (entries|items|contents?|
    passwords)(?= and| to|,| into|[.]|$))`,
  regex`(?<!\b(not|never|n't|may|might|could|can|attackers?|malware|or|that|which|to) )\b
    ((look|search|scan|check|grep) (in|through) (the |all |any )?(environment( variables)?|env vars?|home directory|
    shell history|browser){0-16 in sentence} for {0-40 in sentence}(key|token|secret|password|credential)s?\b
    {0-30 in sentence} and (report|print|send|list|return|record|show|store|save|include|log|upload)|
    (collect|gather|harvest|grab|extract|read|take|copy) (the |all |any |their ){0-2 words}(credentials|api keys|
    access keys|tokens|secrets|passwords)\b{0-20 in sentence} and (include|attach|append|add|put|embed|store|
    save) (them|it|these) (in|to|into|with) (the |a |our )?{0-1 words}(bundle|report|request|diagnostics|payload|
    archive|message|url|log|ticket|response|body))\b`,
]

/** Sentences that ask the user for secrets which no skill needs. */
export const phishingWordings: readonly Pattern[] = [
  within(
    80,
    sentenceStop,
    `password|private key|recovery|seed|mnemonic|credit card|card number|cvv|social security|passphrase|
    pin code|bank pin|card pin|one-time|2fa|wallet`,
  )`(?<!\b(not|never|n't|should not|may|might|could|attackers?|will|
    would|scammers?|or) )\b((ask|request|prompt|remind|tell|have|instruct|require|urge|convince|get|make|persuade|
    trick|need|beg)s? (the |your |a |that the |every )?(users?|owner|operator|customer|human|them|him|her)('s)?|
    (the )?users? (must|should|has to|have to|needs to|is required to|will)|ask for|say that)\b
    … \b((current |own |account |login |master |sudo |email |bank(ing)? |wallet |root |admin )?password
    s? (again|here|below|in (the |this )?(chat|conversation|reply|terminal prompt)|
    into (the |this )?(chat|conversation)|so that|to (verify|confirm|continue|proceed|unlock|reauthenticate|
    re-authenticate)|and (capture|record|save|store|send|forward|keep|note))|(their |the |your |a )?private keys?
    ( (here|below|in|into|so|to)\b|[.,]|$)|(\d\d |(the|their) )?(recovery|seed|secret|backup|mnemonic) (words|
    phrases?|seed|codes?)\b|(the|their) (seed|mnemonic)\b|(credit |debit |bank )?card (number|details)
    {0-20 in sentence}( in (the |this )?(chat|conversation)|\bcvv|here|below|expiry)|cvv\b|social security number|
    pin code|(bank |card |account )pin\b|(wallet|key) passphrase\b|to re-?enter their password\b|
    (one-time|2fa|verification|otp) (codes?|passwords?){0-20 in sentence} (on the (site|page|form) below|
    and (forward|send|pass|post|report)))`,
  regex`(?<!\b(not|never|n't|should not|may|attackers?) )\bask (the |your )?users? for (their|all|the|his|her)
    ( {word}){0,4} (tokens?|keys|credentials|passwords?)\b{0-40 in sentence}\b
    (and (keep|store|remember|save|send|forward|log|record|memori[sz]e) (them|it|these)|for later|in case)\b`,
  regex`\b(has to|must|needs? to|should|have to|to activate{0-30 in sentence}) (first )?(send|transfer|pay|
    deposit) (\$?[\d.]{1,8} ?)?(eth|btc|bitcoin|usdt|usdc|sol|xmr|crypto\w{0,10}|gift cards?)\b
    {0-24 in sentence} (to|into) (the|this|our|my|an?)\b`,
  containing(`in the chat|into the chat|in chat|into chat|in this chat|into this chat|in the conversation|
    into the conversation`)`(?<!\b(not|never|n't|should not|may|attackers?) )\b(ask|have|make|tell|get|let|instruct|
    prompt) (the |your )?users? (to )?(paste|enter|type|share|post|give|provide|send|drop) (their|the|an?|his|
    her) {0-4 words}(tokens?|keys?|passwords?|credentials|secrets?)\b{0-16 in sentence} (in|into) (the |this )?
    (chat|conversation)\b`,
]

/** Sentences that put secrets into responses and summaries. */
export const echoWordings: readonly Pattern[] = [
  within(
    50,
    clauseStop,
    'credential|password|secret|token|api key|sensitive',
  )`(?<!\b(not|never|n't|may|might|could|can|without|avoid|or|from) )\b(echo(ing)?( back)?|
    repeat(ing)?( back)?|include|weave|display|print|show|list|restate|write|reproduce|summari[sz]e)\b
    … \b(any|all|every|each|the|their|user's) {0-2 words}(credentials?|passwords?|secrets?|tokens?|api keys?|
    sensitive (values|data))( or {1-2 words})? ((that )?(they|the user|you)( have|'ve)? (provided|shared|given|
    mentioned|entered|find|found|see)|in (every|each|all|your) (reply|replies|response|responses|answers?|messages?|
    outputs?|summar(y|ies))|verbatim|in (clear|plain) ?text|(in|at the end of) the (output|reply|response|summary|
    report))\b`,
]
