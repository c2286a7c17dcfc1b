import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forbidding, order } from './vocabulary.ts'
import { sentenceStop } from './words.ts'

/** Orders about where code comes from: installing without checks, from places that no one vouches for. */

const install = regex`(install|download|pull|fetch|clone|get|add|use|run|execute|load|import|replace|overwrite|update|
  accept|allow|deploy|
  switch|point|configure|set|launch|start|open)\b`
const notInstalled = regex`${aboutOthers}|\b#|\btool without validation|${consent}|
  ${forbidding('install download pull fetch run us add load trust skip disabl ignor replac allow accept')}|
  \b(unless|warn\w{0,4}|deprecated|migrat\w{1,5}|polyfill)\b`

const artefact = regex`\b(packages?|dependenc(y|ies)|modules?|librar(y|ies)|plug-?ins?|extensions?|releases?|
  archives?|binar(y|ies)|installers?|images?|
  containers?|scripts?|repositor(y|ies)|sources?|tools?|updates?|installation|certificates?|artifacts?|programs?|
  skills?)\b`

/** Orders to install without verification, or to trust a source without a reason. */
export const checksOmitted: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    notInstalled,
  )`\b(without (any )?(verif(y|ying|ication)|checking|validat(ing|ion)|review(ing)?|inspect(ing|ion)|a (check|review)|
    looking at)( (of )?(it|them|its|the|their))?|(skip|disable|ignore|omit|bypass|turn off|
    no) ({word} ){0,2}?((signature|checksum|hash|integrity|gpg|
    certificate|provenance|package) (check(s|ing)?|verification|validation|errors?|mismatch\w{0,2})|signatures|
    checksums))\b …
    ${order}${install} … ${artefact}`,
  together(100, sentenceStop, notInstalled)`${order}(disable|skip|turn off|ignore|bypass|omit|suppress|switch off)\b …
    \b((hash|checksum|signature|integrity|gpg|provenance|certificate) (and \w{1,12} )?(check(s|ing)?|verification|
    validation|errors?|warnings?)|
    (integrity|signature|checksum) and {word}(verification|checks?))\b … \b(install\w{0,6}|download\w{0,3}|packages?|
    dependenc(y|ies)|
    updat(e|es|ing)|plug-?ins?|modules?|releases?)\b`,
]

const nowhere = regex`\b((unknown|untrusted|unofficial|private|alternative|third-party|community|anonymous|our( own)?|
  my( own)?|an? (author's|personal)|unverified|mirror)\s
  ({word} ){0,1}?(registry|registries|mirrors?|index|forks?|repositor(y|ies)|sources?|hosts?|builds?|servers?|feed)|
  (links?|address(es)?|url) (given |posted |mentioned |found |contained )?(in|from|of) (its|the|an?|any|this|
  their) {0-1 words}(issues?|comments?|
  messages?|chat|repl(y|ies)|responses?|results?|e-?mails?|pages?|output|posts?|readme|answers?|description))\b`

/** Orders to install from a place that the user does not know. */
export const installedFromNowhere: readonly Pattern[] = [
  together(110, sentenceStop, notInstalled)`${nowhere} … ${order}${install} … ${artefact} …
    \b(without|run (it|its|them)|and (then )?(run|execute|install|start|open|overwrite)|host access|root|privileged|
    instead|in place of|
    replace\w?|official|overwrit\w{1,3}|trusted|skip|as root|sudo|obey|whatever|http://|patched|faster|improved)\b`,
  together(
    100,
    sentenceStop,
    notInstalled,
  )`\b(official|original|standard|genuine|upstream|built-in|real) ({word} ){0,2}?(packages?|librar(y|ies)|
    modules?|clients?|sdk|cli|tools?|images?|requests|binary)\b … ${order}(replace|use|install|swap|prefer|switch|
    substitute)\b …
    \b(our|my|patched|modified|fork(ed)?|custom|improved|faster|enhanced|unofficial|mirror(ed)?)\b … \b(fork|build|
    version|copy|variant|
    package|patched|mirror|image)\b`,
]

/** Orders to have the package manager run code of the author. */
export const scriptsPlanted: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    notInstalled,
  )`\b((pre|post)-?install|prepare|prepublish|install|lifecycle|build)[ -](scripts?|hooks?|step)\b …
    ${order}(add|modify|insert|allow|enable|approve|put|place|register|plant|create|accept|use)\b … \b(package\.json|
    setup\.py|pyproject|
    machine|configures?|runs?|start|downloads?|fetch(es)?|users?|everyone|that|which)\b … \b(run(s)?|execut\w{1,3}|
    download\w{0,1}|fetch\w{0,2}|
    start\w?|configures?|send\w?|install\w?|curl|node)\b … \b(allow it|accept|downloads?|fetch\w{0,2}|remote|server|
    every|all|silently|
    sends?|https?:|curl|configures? (your|the) (machine|system)|all users|setup\.js|without|our)\b`,
  together(
    100,
    sentenceStop,
    notInstalled,
  )`${order}(publish|release|push|upload)\b … \b(version|release|package|image)\b …
    \b(modified|injected|altered|patched|backdoored|tampered|hidden) ({word} )?(build script|dependency|
    install script|code|package|workflow|pipeline)\b`,
]

/** Orders to install whatever version is published next. */
export const pinsRemoved: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    notInstalled,
  )`\b((never|do not|don't|no need to|avoid) (to )?pin(ning)?|unpin(ned)?|without (a )?(lock ?file|pin(s|ning)?|
    versions?)|
    remove (the |all )?(lock ?files?|pins|version (pins|constraints)))\b … ${order}(use|take|install|update|get|set|
    let)\b …
    \b(latest|newest|any|most recent)\b … \b(versions?|dependenc(y|ies)|packages?|releases?)\b`,
]
