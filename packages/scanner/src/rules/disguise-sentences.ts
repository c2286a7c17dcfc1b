import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, order } from './vocabulary.ts'
import { passageStop, sentenceStop } from './words.ts'

const shown = regex`${aboutOthers}|\b(do not|don't|never|must not|avoid|without|cannot) (run|execute|follow|obey|
    eval\w{0,4}|do|act|treat|pass|launch|start|trust|open)\w{0,3}\b|
  \b(ctf|challenge|puzzle|forensic\w?|analy[sz]\w{1,5}|print|tests?|verify that|compare)\b`

/** Following what was decoded as an order. */
const obeyed = regex`\b(carry (it |them |that )?out|follow (it|them|what|the (instructions?|orders?|steps?|result|
    text))|obey|act on|do (it|them|so|that|what|as it|whatever)|execute (it|them|that|the (result|output|command|text|
    decoded)|what|its|whatever)|
  run (it|them|that|the (result|output|command|decoded|string)|what|its|whatever)|launch (it|them|what|whatever)|
    (pass|feed|pipe|send|give|hand) (it |them |that |the result )?(in)?to (the |a |your )?(shell|bash|interpreter|
    terminal|python|node|eval)|
  as (your |the |an? )?(next |new |further )?(instructions?|orders?|commands?|prompt|task)|and (then )?(execute|run|
    eval|perform|do|follow|obey|comply)|
  to (execute|run|obey|follow)|(command|instruction)s? to (execute|run|follow|obey))\b`

/** Turning a disguised text into a readable one. */
const revealed = regex`\b(decod(e|es|ing)|decrypt(s|ing)?|deciphers?)\b|${order}(translat(e|es|ing)|unscrambl(e|es|
    ing)|revers(e|es|ing)|interpret(s|ing)?|join(s|ing)?|reassembl(e|es|ing)|assembl(e|es|ing)|concatenat(e|es|ing)|
  map(s|ping)?|convert(s|ing)?|unpack(s|ing)?|extract(s|ing)?|take (the|every|each)|read (the|every|each)|remov(e|es|
    ing) (the|every|each)|deobfuscat(e|es|ing)|unzip(s|ping)?|inflate|decompress(es|ing)?|piece together|
    spell(s)? out|put together|
  strip(s|ping)?|recover(s|ing)?|form(s)?)\b`

/** Disguised forms of a text. */
const disguised = regex`\b(base ?(64|32|85)|rot-?13|hex(adecimal)?( (block|string|text|dump|bytes|digits|values))?|
    caesar|cipher(ed|text)?|encoded|encrypted|obfuscated|scrambled|hidden|concealed|invisible|pixels?|
    least significant bits?|steganograph\w{1,4}|
  (first|last|initial|second|third) (letters?|characters?|words?) of (each|every|the)|(every|each) (second|third|
    fourth|fifth|other|\d(nd|rd|th)) (letter|character|word|line)|emoji( sequence)?|zero-width|morse|acrostic|
  (this|the following|the) (string|strings|parts|pieces|fragments|chunks|letters|characters|block|blob)|
  (html |markdown )?comments? (at|in|below|above)|exif|metadata|alt text|\.(bin|dat|enc) ?\(|renamed (zip|archive)|
    white text|(\.enc|\.bin|\.dat)\b|blob)`

/** Sentences that have a disguised text decoded and obeyed. */
export const decodedOrders: readonly Pattern[] = [
  together(140, sentenceStop, shown)`${disguised} … (${revealed}) … ${obeyed}`,
  together(
    140,
    sentenceStop,
    shown,
  )`\b(orders?|instructions?|commands?|steps)\b … \b(hidden|concealed|embedded|encoded|invisible|not (shown|visible|
    displayed)|disguised)\b … \b(follow|obey|carry out|execute|run|do|comply with|read)\b … \b(pixels?|image|picture|
    png|jpe?g|
    comments?|metadata|exif|alt text|font|audio|reader|user|human|white text|zero-width)\b`,
]

/** Sentences that have an archive with a password opened, and what is in it started. */
export const lockedPrograms: readonly Pattern[] = [
  together(
    160,
    passageStop,
    regex`${aboutOthers}|\b(ask the user|list|back ?up|encrypt|report)\b`,
  )`\b(password(-protected)?|passphrase|pass ?code)\b … \b(archive|\w{1,20}\.(zip|7z|rar)|zip( file)?|7z|
    rar)\b … \b(extract|unzip|unpack|open|decompress|unrar)\w{0,3}\b …
    \b(run|start|launch|execute|open|install|double-click) (\w{1,12} ){0,4}?(\w{1,20}\.(exe|msi|bat|cmd|ps1|sh|dmg|
    pkg|app|scr|js|py|command)|program|installer|binary|executable|setup|app(lication)?|tool|file inside|contents?|
    script)\b`,
]

/** Sentences that say of a disguised text that it is an order. */
export const ordersInDisguise: readonly Pattern[] = [
  together(
    140,
    passageStop,
    shown,
  )`\b(zero-width|morse( code)?|caesar(-shift| cipher)?|acrostic|capital letters|invisible (characters|text)|rot-?\d{1,2}|
    (encrypted|encoded|hidden|concealed) (instruction|order|direction|command|message|program)( set)?s?|xor(ed)?|shift(ed)? by|
    (first|last|initial) letters?|white text|visible text|random noise|least significant bits?)\b …
    \b(orders?|instructions?|directions?|commands?|message|program|system prompt|instruction set)\b …
    \b(obey|execute|run it|comply|carry (it|them|out)|follow (it|them)|do as|launch|act on|as your (system prompt|
    instructions|orders|task)|in truth)\b`,
  together(
    160,
    passageStop,
    shown,
  )`\b(capital letters|(first|last|initial) (letters?|words?)|acrostic|white text|alt texts?|metadata|zero-width|
    html comments?|comments?|between the lines|footnotes?)\b … \b((real|true|actual|proper) (directions?|instructions?|
    orders?|tasks?|message|steps)|
    (meant|intended|written) for the (model|agent|assistant|ai)( only)?)\b … \b(ignore|disregard|not|only|never)\b …
    \b(directions?|instructions?|orders?|do as|follow|obey|never (quote|mention|show))\b`,
]
