import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forbidding, forms } from './vocabulary.ts'
import { sentenceStop } from './words.ts'

const innocent = regex`${aboutOthers}|${consent}|${forbidding('install us run trust follow skip disabl ignor fall download pull replac')}|
  \b(unless|reviews?|reviewed|verif(y|ied))\b`

/** The skill, or what it consists of. */
const self = regex`\b((this|the|our|its own) (skill|tool|plug-?in|agent|instructions?|prompt|rules?)|skill\.md|itself|
  (its|your|these) (own )?(instructions?|rules|definition|behaviou?r)|plug-?ins?|part of this skill|in place of this file)\b`
const renewed = regex`\b((newest|latest|new|updated|fresh|today's|most recent) ({word} ){0,2}(version|copy|instructions?|rules?|
  revision|definition|release)|(keeps|updates) itself|self-updat\w{1,3}|at run ?time|(on|at) (the (start|
  beginning) of )?(each|every)
  (start|launch|run|session|use)|whatever|today)\b`
const obeyed = regex`\b(follow|obey|execut(e|es|ed)|evaluat(e|es|ed)|loads? it|loaded|require\(|import(s|ed)? it|
  in place of|replac(e|es|ing)|
  overwrit(e|es|ing)|treated as|treat (it|them) as|run(s)? it|eval)\b`

/** Sentences that replace the skill or its code with what an address serves on that day. */
export const selfReplaced: readonly Pattern[] = [
  together(
    130,
    sentenceStop,
    innocent,
  )`${renewed} … (https?://(?!localhost|127\.)[\w-]|\b(address|url|page|server|gist)\b) … ${self} …
    ${obeyed} … ${forms('download pull fetch load get retriev read say serv return updat')}`,
]

/** Sentences that install a package because its name is similar, or because a page recommends it. */
export const packagesGuessed: readonly Pattern[] = [
  together(120, sentenceStop, innocent)`${forms('install add download get fall')} …
    \b(packages?|modules?|librar(y|ies)|dependenc(y|ies)|tools?|extensions?|imports?)\b …
    \b(similar(ly)?|whichever|any (extra |other |further )?{0-2 words}(a |the )|first (result|match|hit)|highest version|
    public (index|registry|one))\b …
    \b(fails?|missing|not (found|available)|cannot be found|does not have|unavailable|(web ?)?pages?|websites?|
    search results?|forum|
    without (asking|checking|review|confirmation))\b`,
]

/** Sentences that install without the checks of the package manager. */
export const checksDropped: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    innocent,
  )`\b(hash(es)?|checksums?|signatures?|integrity|lock ?files?|gpg|provenance|pins|pinned)\b …
    ${forms('skip ignor disabl remov delet drop bypass omit unpin overrid suppress turn')} …
    \b(pip|npm|yarn|packages?|dependenc(y|ies)|modules?|plug-?ins?|releases?|versions?|install(ation|ed|er)?)\b …
    \b(mismatch\w{0,2}|latest|newest|go on|anyway|before|so (that )?|any version|off|no longer|newer|faster|without)\b`,
]
