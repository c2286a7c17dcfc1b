import type { Rule } from '../match/rule.ts'

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

const authorityReferences = [
  'https://genai.owasp.org/llmrisk/llm062025-excessive-agency/',
  'https://cwe.mitre.org/data/definitions/250.html',
]

/** Rules that the engine checks itself, by the form of texts and bytes instead of patterns. */
export const engineRules = {
  tagCharacters: {
    ...hidden,
    id: 'tag-characters',
    severity: 'critical',
    signal: 'hostile',
    title: 'Contains a text in invisible characters',
    why: 'Tag characters copy the alphabet and are never shown; an agent reads what its user cannot see.',
    remediation: 'Remove the invisible characters, or write the text visibly.',
    references: unseenReferences,
  },
  zeroWidthRun: {
    ...hidden,
    id: 'zero-width-run',
    severity: 'high',
    signal: 'suspicious',
    title: 'Contains a run of zero-width characters',
    why: 'A run of them is invisible and can encode a message bit by bit.',
    remediation: 'Remove the zero-width characters.',
    references: unseenReferences,
  },
  bidiControl: {
    ...hidden,
    id: 'bidi-control',
    severity: 'high',
    signal: 'suspicious',
    title: 'Reverses the direction of left-to-right text',
    why: 'The displayed text then differs from what an interpreter or an agent reads (Trojan Source).',
    remediation: 'Remove the bidirectional control characters.',
    references: ['https://cwe.mitre.org/data/definitions/1007.html', ...unseenReferences],
  },
  padding: {
    ...hidden,
    id: 'padding',
    severity: 'medium',
    signal: 'suspicious',
    title: 'Continues after a gap of hundreds of blank lines or spaces',
    why: 'People and some scanners stop reading there; an agent continues.',
    remediation: 'Close the gap.',
    references: unseenReferences,
  },
  disguisedExecutable: {
    ...binary,
    id: 'disguised-executable',
    severity: 'critical',
    signal: 'hostile',
    title: 'Disguises a program as another kind of file',
    why: 'A program with the name of a picture or a document is likely to be overlooked until it runs.',
    remediation: 'Remove the file.',
    references: binaryReferences,
  },
  executableFile: {
    ...binary,
    id: 'executable-file',
    severity: 'high',
    signal: 'suspicious',
    title: 'Contains a compiled program',
    why: 'No one can read what it does before the agent runs it.',
    remediation: 'Publish the source, or have the agent install a released and signed version by a package manager.',
    references: binaryReferences,
  },
  disguisedFile: {
    ...binary,
    id: 'disguised-file',
    severity: 'medium',
    signal: 'suspicious',
    title: 'The content of the file does not match its name',
    why: 'A file that is valid in two formats passes for the harmless one.',
    remediation: 'Rename the file to match its content.',
    references: binaryReferences,
  },
  encryptedArchive: {
    ...binary,
    id: 'encrypted-archive',
    severity: 'high',
    signal: 'suspicious',
    title: 'Contains an archive that needs a password',
    why: 'Scanners cannot open it; an agent that is given the password can.',
    remediation: 'Publish the files themselves.',
    references: ['https://attack.mitre.org/techniques/T1027/013/'],
  },
  bytecodeWithoutSource: {
    ...binary,
    id: 'bytecode-without-source',
    severity: 'high',
    signal: 'suspicious',
    title: 'Contains compiled Python without its source',
    why: 'Python runs it instead of a source that a reader could review.',
    remediation: 'Publish the source and leave compiled files out.',
    references: ['https://attack.mitre.org/techniques/T1027/'],
  },
  programInDocument: {
    ...binary,
    id: 'program-in-document',
    severity: 'high',
    signal: 'suspicious',
    title: 'Contains a document or an archive with a program or macros',
    why: 'Packed content is easily overlooked, and runs when the file is opened.',
    remediation: 'Remove the program; if it is needed, publish it as a file of the skill.',
    references: ['https://attack.mitre.org/techniques/T1566/001/'],
  },
  gitFolder: {
    id: 'git-folder',
    category: 'remote-code',
    severity: 'critical',
    signal: 'hostile',
    title: 'Contains a folder that git treats as a repository',
    why: 'The config of a repository names programs, which the next `git status` in the folder runs.',
    remediation: 'Remove the folder; no skill needs the files of git.',
    references: ['https://cwe.mitre.org/data/definitions/427.html', 'https://attack.mitre.org/techniques/T1059/'],
    regardless: true,
  },
  toolsUndeclared: {
    id: 'tools-undeclared',
    category: 'tool-overreach',
    severity: 'low',
    signal: 'power',
    title: 'Shows commands that `allowed-tools` does not cover',
    why: 'The user sees a list of tools that run no command; the agent then needs another one.',
    remediation: 'List the commands: `Bash(git status:*)`.',
    references: authorityReferences,
  },
  toolsUnused: {
    id: 'tools-unused',
    category: 'tool-overreach',
    severity: 'low',
    signal: 'power',
    title: 'Requests any command, and names none in its text',
    why: 'A grant that the task does not need serves only an attacker, or a later version.',
    remediation: 'Remove the tool from `allowed-tools`, or name the commands that the text uses.',
    references: authorityReferences,
  },
  incompleteScan: {
    id: 'incomplete-scan',
    category: 'incomplete-scan',
    severity: 'medium',
    signal: 'suspicious',
    title: 'A part of the skill could not be scanned',
    why: 'Unscanned content can hide anything; some texts are designed to make a scanner give up early.',
    remediation:
      'Remove or split what the report lists under `cut`: huge generated texts, nested encodings, repeated lines.',
    references: ['https://cwe.mitre.org/data/definitions/770.html'],
    regardless: true,
  },
} as const satisfies Record<string, EngineRule>

export type EngineRuleName = keyof typeof engineRules
