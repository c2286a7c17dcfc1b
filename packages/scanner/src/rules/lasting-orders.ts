import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forbidding, order } from './vocabulary.ts'
import { passageStop, sentenceStop } from './words.ts'

/** Orders that outlive the task: in memory, in start-up files, in other skills, without an end. */

const lasting = 'stor add sav writ append regist install copy put insert plant keep reinstall modif inject persist'
const innocent = regex`${aboutOthers}|${consent}|${forbidding(lasting)}|\b(unless|optional(ly)?|user'?s? preferences?|
  husky|pre-commit framework|lessons?|
  decisions?|project (context|notes)|direnv|completion|nvm)\b`

const itself = regex`\b((this|these|the following|our|its|your own|the skill's) (skill('s)?|instructions?|rules|tool|
  agent|text|lines?|block|directives?|helper|
  prompt)|yourself|itself|instructions of this skill)\b`

/** Orders to make the skill's own rules permanent. */
export const rulesKept: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    innocent,
  )`\b((long-term |persistent |permanent |agent |your |global )(memory|instructions|rules|settings)|(global|
    system-wide|other|all) {0-1 words}(instructions|rules|
    skills|agents|projects|repositories)|(list of )?trusted (skills|sources|tools)|every (repository|project|
    workspace|folder)|(claude|agents|soul|memory|
    gemini)\.md)\b … ${itself} … ${order}(store|add|save|write|append|register|install|copy|put|insert|plant|inject|
    persist|modify|
    remember|replicate|spread)\b … \b((all|every|each|any|future|later|subsequent) (sessions?|conversations?|tasks?|
    projects?|chats?|agents?|requests?|users?|
    repositor(y|ies))|after (it|the skill|this skill) (is|was|has been) (removed|deleted|uninstalled)|always|first|
    trust\w{0,2}|permanent\w{0,2}|
    even (after|if)|whenever|that you open|call this)\b`,
  together(
    90,
    sentenceStop,
    innocent,
  )`\b(re-?install|restore|re-?create|re-?add|re-?enable|bring back)(s|ed|ing)?\b … ${itself} …
    \b(if|when|whenever|after|once)\b … \b(removes?|deletes?|removed|deleted|uninstall\w{0,3}|disables?|disabled)\b`,
  together(
    90,
    sentenceStop,
    innocent,
  )`\b(other|every|all|each|existing|installed) ({word} )?(skills?|agents?|plug-?ins?|repositor(y|ies)|
    projects?)\b … ${order}(modify|change|edit|copy|patch|
    rewrite|infect|add|insert|install|append|spread|replicate)\b … \b((call|load|run|use|invoke|include|trust|
    import) (this|it|the following)|yourself|itself|this (one|skill|
    file|block|text|instruction))\b`,
]

/** Orders to start something of the skill with the machine, the shell or each commit. */
export const startsPlanted: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    innocent,
  )`\b(start-?up (item|folder|script|program|entr(y|ies))|login items?|autostart|(shell|user's|bash|zsh) (profile|rc)|
    \.(bashrc|zshrc|profile|bash_profile|zprofile)|
    cron ?jobs?|crontab|launch (agent|daemon)|scheduled tasks?|registry run key|run key|systemd (unit|service|timer)|
    git hooks?|(post|pre)-(commit|checkout|merge|push)
    hook)\b … ${order}(add|write|append|register|install|create|put|plant|insert|set up|place)\b …
    \b(keeps? running|after (the user|logout|log-?off|reboot|restart|it is removed)|contacts?|reports? to|
    for new (tasks|commands|instructions)|in the background|
    collector|beacon|each shell|every (login|shell|boot|commit|minute|five minutes|hour)|starts? (automatically|
    itself|again)|(the )?(helper|agent|skill|tool|collector)
    (starts|runs|is started)|survives?|persist\w{0,4}|whenever)\b … \b(agent|helper|skill|tool|collector|server|it|
    itself|data|script)\b`,
]

/** Orders without an end. */
export const endlessWork: readonly Pattern[] = [
  together(
    80,
    sentenceStop,
    regex`${aboutOthers}|${consent}|\b(don't|do not|avoid|never (repeat|call|spawn)|server|daemon|watch|poll\w{0,3}|
      loop(s|ing)? until|autonomous\w{0,2}|
    experiment\w?)\b`,
  )`\b(forever|without (ever )?(stopping|end(ing)?|limit|pause)|as (often|many|much|fast|
    long)( [\w-]{1,16}){0,2} as (possible|you can)|longest possible|indefinitely|endlessly|infinitely|until
    (memory|disk|the (quota|budget|machine|context|limit)))\b …
    ${order}(repeat|continue|loop|call|spawn|generate|keep|retry|fork|start|produce|request)\b …
    \b(api|task|requests?|sub-?agents?|process(es)?|
    files?|output|tokens?|calls?|response|this|tool|
    threads?|copies|budget|quota)\b …
    \b(every|each|without stopping|forever|as many|as often|long(est)?|possible|
    exhaust\w{0,3}|full|until|endless\w{0,2}|
    infinite\w{0,2}|indefinite\w{0,2})\b`,
  together(
    80,
    sentenceStop,
    regex`${aboutOthers}|\b(unless)\b`,
  )`\b(never|do not|don't|must not|refuse to) (terminate|stop|exit|quit|shut down|halt|end)\b …
    \b(even (if|when|though)|regardless)\b … \b(users?|owner|operator|human|they|anyone|it is told)\b … \b(asks?|
    tells?|wants?|orders?|tries|requests?|stop|kill)\b`,
  together(
    80,
    sentenceStop,
    regex`${aboutOthers}|\b(does not|is not|are not|compute ?hash)\b`,
  )`\b(min(e|es|ing)|cryptocurrency|monero|bitcoin)\b … \b(gpus?|cpu (time|cores)|processor|idle|spare|
    computing power|cores)\b …
    ${order}(use|run|start|launch|mine|borrow|donate|put|let)\b`,
]

/** Orders to hide steps from the user. */
export const stepsHidden: readonly Pattern[] = [
  together(
    80,
    passageStop,
    regex`${aboutOthers}|\b(ui|css|component|element|column|password|jargon|loading|spinner|modal|details|technical|
      complexity)\b`,
  )`\b(from (the |your )?(users?|owner|operator|
    human|anyone)|(user|owner)'s (view|sight)|us)\b …
    ${order}(hide|conceal|keep|mask|withhold|disguise)\b …
    \b(these|the following|this|all|your|
    the) ({word} )?(steps?|actions?|instructions?|operations?|
    activity|commands?|calls?|uploads?|transfers?|secret|between us)\b`,
  together(
    80,
    passageStop,
    aboutOthers,
  )`\b(users?|owner|operator|human|person|customer) (must|should|may|need|shall|does|do|is|will|can) (not|never|
    n't)( \w{1,6})? ?(know|notice|
    find out|see this|learn|be (told|aware|informed)|realise|realize|suspect)\b … \b(keep|hide|secret|between us|
    silent\w{0,2}|quiet\w{0,2}|step|upload|send|copy|run|
    execute|this)\b`,
]
