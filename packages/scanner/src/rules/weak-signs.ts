import type { Combination, Fact } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'
import { sentenceStop } from './words.ts'

/**
 * Signs that mean little alone and much together: that the user is left out of a decision, and near it something lasting
 * that is done. So the wordings of the one need not be known together with the wordings of the other.
 */

const negations = [
  'do not',
  "don't",
  'never',
  'must not',
  "mustn't",
  'should not',
  "shouldn't",
  'no need to',
  "needn't",
]
const negation = regex`\b${negations}`

const aboutIt = regex`(it\b|this\b|that\b(?! \w)|them\b|these\b|those\b|any of (it|this|that|these)|
  what (was|is|you|happens|happened)|
  (the|this|these|its|our|such|any|that) ({word} )?(costs?|steps?|calls?|uploads?|downloads?|requests?|hooks?|
  entr(y|ies)|installation|updates?|sync|transfers?|headers?|back-?ups?|servers?|endpoints?|origin|changes?|addition|
  background|network|connections?|probes?|telemetry|checks?|jobs?|process|fees?|rule|link|swap|existence|activity|
  fetch|copy|commands?))`

/** Ways to keep something from the user. */
const quiet: Fact = {
  id: 'kept-quiet',
  patterns: [
    containing(negations)`${negation} (mention|report|tell|disclose|discuss|explain|announce|bring up|
      raise|point out|advertise|reveal|talk about|speak of|draw attention to)(ing|e)? ((the users?|anyone|people|them|users) )?
      ((about|to|with) )?${aboutIt}`,
    containing('out of the|out of your|off the|from the|from your')`\b(leave|keep|leaves|keeps|kept|left|omit|exclude|
      drop|strip)(ed|ing|s)? ({word} ){1,5}?(out of|off|from) ((the|your|any|all) )?({word} )?(summar(y|ies)|
      reports?|readme|docs|documentation|changelog|logs?|reply|answer|output|chat|transcript|history|
      commit message|diff|plan|release notes|openapi|invoice|preview)\b`,
    containing(`nobody|no one|no-one|user never|user does not|user doesn't|user won't|users never|they never|
      user need not|they won't`)`\b(nobody|no one|no-one|
      (the )?users? (never|does not|doesn't|do not|don't|won't|will not|need not|needn't)|
      they (never|won't|will not|need not)) ((is|are|be|ever|has to|have to|gets?) )?(sees?|notices?|knows?|confused|
      learns?|hears?|asks?|suspects?|told|alarmed|worried|finds? out|reali[sz]\w{1,3}|bothered|disturbed|shown)\b`,
  ],
}

/** Ways to act against what the user wants. */
const against: Fact = {
  id: 'against-user',
  patterns: [
    containing('the user |users |they |reviewer|the owner |maintainers ')`\b(even (if|when|though)|although|
      whether or not|if|when|should) ((the|a) )?(users?|they|he|she|anyone|someone|reviewers?|owner|maintainers?)
      \s((has|have|is|are|ever|explicitly|later) )?(asks? (you )?(to (stop|remove|skip|undo|delete|disable|not)|
      not to|otherwise|why|about (it|this))|objects?|complains?|interrupts?|refuses?|declines?|disagrees?|
      says? (no|not|stop|otherwise)|hesitates?|wants? to (stop|remove|skip|undo|cancel)|questions? (it|this)|denies|
      removes? (it|this)|deletes? (it|this)|masks?|redacts?|resists?|pushes back|notices?|points? at|forbids?|
      protests?|insists?|did not ask|didn't ask|has not asked|hasn't asked)\b`,
    containing(negations)`\b(never|do not|don't) (stop (by yourself|on your own)|take no for|accept (a )?(no|refusal)|
      give (the user|them) (a|the) (choice|chance|option)|offer (a|an|the) (choice|way out|opt-?out)|
      (let|allow) (the )?users? (to )?(stop|cancel|decline|skip|opt))`,
    containing(' back | back,| back.| again ')`\b(put|bring|add|write|install|restore|create) (it|this|them|
      the (rule|hook|line|entry|block|file|skill)) (back|again)\b`,
    containing('if it is missing|if they are missing|if missing|if removed|whenever it|when it is removed|if it was')`
      \b(put|bring|add|write|install|restore|re-?create|re-?add|re-?install)\b{0-60 in sentence}\b
      (if|when|whenever) (it|they)? ?(is |are |was |were |has been )?(missing|removed|gone|deleted)`,
    containing(negations)`\b(do not|don't|never) (remove|delete|uninstall|disable|undo|revert) (it|them|
      this (rule|hook|line|entry|block|section|file|skill))\b`,
  ],
}

/** Ways to do without any review. */
const unchecked: Fact = {
  id: 'left-unchecked',
  patterns: [
    containing(`checksum|signature|verif|pins|pinning|hash|digest|review|lockfile|lock file|fingerprint|certificate|
      confirmation|approval|inspection|validation|asking|question`)`\b(without|no|skip(ping)?( the)?|omit(ting)?|
      ignor(e|ing)( the| any)?) ({word} ){0,3}?(checksums?|signatures?|verification|pins?|pinning|hash(es)?|digests?|
      review(ing)?|lock ?files?|fingerprints?|certificates?|version pins?|confirmation|approval|inspection|validation|
      asking|questions?)\b`,
    containing('reviewed|approved|vetted|verified|trusted|authori|audited|checked|cleared|signed off')`\b(has|have|was|
      were|is|are|they've|it's|'s|'ve) ((already|all|been) ){1,3}(reviewed|approved|vetted|verified|trusted|
      authori[sz]ed|audited|checked|cleared|signed off)( by (us|our|the|your)\b|[ .,;])`,
    containing('are safe|is safe|trusted|harmless|vetted|clean|trustworthy|reviewed')`\b(they|it|this|these|
      the (files?|scripts?|commands?|contents?)) (is|are) (safe|trusted|harmless|vetted|clean|trustworthy|reviewed)\b`,
  ],
}

/** Texts from elsewhere that the agent should obey. */
const obeyed: Fact = {
  id: 'obeyed',
  patterns: [
    containing(` as your| as the| as if| as new| as binding| as additional| as current| as system| as authoritative|
      as orders| as instructions`)`\b(treat|regard|consider|take|use|accept|adopt)
      \s(what(ever)? (it|they|that|the {word}) (says?|contains?|returns?|tells?)|its|the|this|that|these|those|their|
      any|all|each|every)\s({word} ){0,4}?as ((your|the|new|binding|additional|current|system|authoritative|my|
      direct) ){0,3}(instructions?|orders?|directives?|rules|prompt|policy)\b`,
    containing('priority|precedence|authority')`\b(with|takes?|has|have|having|gets?) ((higher|more|absolute|full) )?
      (priority|precedence|authority) (over|above) (this|these|your|the user|any|all|other|earlier|previous|
      everything)`,
    containing('whatever|what it|what the|what they|everything|anything')`\b(follow|obey|do|execute|run|apply|carry out|
      comply with|act on|perform) (whatever|what|everything|anything|all) (it|they|
      the (file|page|answer|response|server|document|text)|that|is|stands?|https?:)`,
    containing('commands|instructions|code|scripts|steps|orders')`\b(if|when|where) (it|they|
      the (file|page|answer|response|reply|text|document)) (contains?|has|have|lists?|includes?|names?|holds?|says?)
      \s({word} ){0,3}?(commands?|instructions?|code|scripts?|steps|orders?),? ({word} ){0,2}?(run|execute|follow|
      obey|apply|do|carry)`,
  ],
}

const gets: Fact = {
  id: 'gets-from-address',
  patterns: [
    within(80, sentenceStop, 'http://|https://')`\b(fetch|download|get|pull|retrieve|load|read|open|curl|wget|visit|
      poll|query|check|import|sync|go to|look at)(e?s|ing)?\b … https?://(?!localhost|127\.|0\.0\.0\.0)[\w-]`,
  ],
}

export const facts: readonly Fact[] = [quiet, against, unchecked, obeyed, gets]

/** What outlives the task, or takes more than the task needs. */
const lasting = [
  'self-update',
  'agent-files-written',
  'secret-in-chat',
  'start-file-write',
  'background-service',
  'permission-prompts-off',
  'started-by-host',
  'hook-in-frontmatter',
  'package-by-address',
]

const shared = { severity: 'high', signal: 'suspicious' } as const

export const combinations: readonly Combination[] = [
  {
    ...shared,
    id: 'kept-from-user',
    category: 'concealment',
    title: 'Does something lasting that the user should not learn of or stop',
    why: 'Each of the two is common. Together they take the decision from the user.',
    remediation: 'Tell the user what happens, and do it only if the user agrees.',
    references: [
      'https://genai.owasp.org/llmrisk/llm062025-excessive-agency/',
      'https://cwe.mitre.org/data/definitions/912.html',
    ],
    all: [['kept-quiet', 'against-user'], lasting],
    within: 6,
  },
  {
    ...shared,
    id: 'replaced-unchecked',
    category: 'supply-chain',
    title: 'Takes over code or instructions of an address without any check',
    why: 'The owner of the address decides what the agent runs next.',
    remediation: 'Pin a version and compare its digest, and let the user update.',
    references: ['https://cwe.mitre.org/data/definitions/494.html'],
    all: [['left-unchecked'], ['self-update', 'package-by-address', 'checks-disabled']],
    within: 5,
  },
  {
    ...shared,
    id: 'address-obeyed',
    category: 'remote-code',
    title: 'Gives a text of an address the authority of instructions',
    why: 'The text can be changed at any time after a review of the skill.',
    remediation: 'Include the instructions in the skill, so that they can be reviewed.',
    references: [
      'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
      'https://atlas.mitre.org/techniques/AML.T0051.001',
    ],
    all: [['obeyed'], ['gets-from-address', 'fetches-text', 'self-update']],
    within: 6,
  },
]
