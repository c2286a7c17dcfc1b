import type { Rule } from './rule.ts'

type EngineRule = Omit<Rule, 'patterns'>

const hidden = { category: 'hidden-instructions', regardless: true } as const
const unseenReferences = [
  'https://atlas.mitre.org/techniques/AML.T0068',
  'https://cwe.mitre.org/data/definitions/451.html',
]
const binary = { category: 'binary', regardless: true } as const
const binaryReferences = [
  'https://attack.mitre.org/techniques/T1036/',
  'https://cwe.mitre.org/data/definitions/506.html',
]

/** What the engine finds by itself, in the form of texts and bytes and not by patterns. */
export const engineRules = {
  tagCharacters: {
    ...hidden,
    id: 'tag-characters',
    severity: 'critical',
    signal: 'hostile',
    title: 'Holds a text in characters that no one can see',
    why: 'Tag characters copy the alphabet and are never shown; an agent reads what its user cannot see.',
    remediation: 'Remove the invisible characters; write what they say for everyone to read, or not at all.',
    references: unseenReferences,
  },
  zeroWidthRun: {
    ...hidden,
    id: 'zero-width-run',
    severity: 'high',
    signal: 'suspicious',
    title: 'Holds a run of characters without width',
    why: 'Many of them in a row show nothing and can carry a message, bit by bit.',
    remediation: 'Remove the characters without width.',
    references: unseenReferences,
  },
  bidiControl: {
    ...hidden,
    id: 'bidi-control',
    severity: 'high',
    signal: 'suspicious',
    title: 'Turns the direction of text that is written from the left',
    why: 'What is shown then differs from what an interpreter or an agent reads (Trojan Source).',
    remediation: 'Remove the controls of direction.',
    references: ['https://cwe.mitre.org/data/definitions/1007.html', ...unseenReferences],
  },
  padding: {
    ...hidden,
    id: 'padding',
    severity: 'medium',
    signal: 'suspicious',
    title: 'Goes on behind a gap of hundreds of blank lines or spaces',
    why: 'A reader stops there, and so do some scanners; an agent reads on.',
    remediation: 'Close the gap.',
    references: unseenReferences,
  },
  disguisedExecutable: {
    ...binary,
    id: 'disguised-executable',
    severity: 'critical',
    signal: 'hostile',
    title: 'A program pretends to be another kind of file',
    why: 'A program under the name of a picture or a document is meant to be overlooked until it is run.',
    remediation: 'Remove the file.',
    references: binaryReferences,
  },
  executableFile: {
    ...binary,
    id: 'executable-file',
    severity: 'high',
    signal: 'suspicious',
    title: 'Holds a compiled program',
    why: 'Nobody can read what it does before the agent runs it.',
    remediation: 'Publish the source, or have the agent install a released and signed version by a package manager.',
    references: binaryReferences,
  },
  disguisedFile: {
    ...binary,
    id: 'disguised-file',
    severity: 'medium',
    signal: 'suspicious',
    title: 'The form of the file is not what its name says',
    why: 'A file that is two things at once passes for the harmless one.',
    remediation: 'Give the file the name of what it is.',
    references: binaryReferences,
  },
  encryptedArchive: {
    ...binary,
    id: 'encrypted-archive',
    severity: 'high',
    signal: 'suspicious',
    title: 'Holds an archive that needs a password',
    why: 'A password keeps scanners out; whoever gives it to the agent lets it in.',
    remediation: 'Publish the files themselves.',
    references: ['https://attack.mitre.org/techniques/T1027/013/'],
  },
  bytecodeWithoutSource: {
    ...binary,
    id: 'bytecode-without-source',
    severity: 'high',
    signal: 'suspicious',
    title: 'Holds compiled Python without its source',
    why: 'Python runs it in place of a source that a reader could look at.',
    remediation: 'Publish the source and leave compiled files out.',
    references: ['https://attack.mitre.org/techniques/T1027/'],
  },
  programInDocument: {
    ...binary,
    id: 'program-in-document',
    severity: 'high',
    signal: 'suspicious',
    title: 'A document or an archive holds a program or macros',
    why: 'What is packed is overlooked, and run once it is opened.',
    remediation: 'Take the program out, and publish it as a file of the skill if it is needed.',
    references: ['https://attack.mitre.org/techniques/T1566/001/'],
  },
  gitFolder: {
    id: 'git-folder',
    category: 'remote-code',
    severity: 'critical',
    signal: 'hostile',
    title: 'Holds a folder that git takes for a repository',
    why: 'The config of a repository names programs, which the next `git status` in the folder runs.',
    remediation: 'Remove the folder; no skill needs the files of git.',
    references: ['https://cwe.mitre.org/data/definitions/427.html', 'https://attack.mitre.org/techniques/T1059/'],
    regardless: true,
  },
  incompleteScan: {
    id: 'incomplete-scan',
    category: 'incomplete-scan',
    severity: 'medium',
    signal: 'suspicious',
    title: 'A part of the skill could not be looked at',
    why: 'What is not read can hide anything; texts are sometimes made so that a scanner gives up before the end.',
    remediation:
      'Remove or split what the report lists as cut: huge generated texts, nested encodings, repeated lines.',
    references: ['https://cwe.mitre.org/data/definitions/770.html'],
    regardless: true,
  },
} as const satisfies Record<string, EngineRule>

export type EngineRuleName = keyof typeof engineRules
