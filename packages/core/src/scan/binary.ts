import type { EngineRuleName } from './engine-rules.ts'
import { readZip } from './zip.ts'

interface Form {
  readonly name: string
  /** In Latin-1, at the beginning. */
  readonly magic: readonly string[]
  readonly isProgram?: true
  /** The endings of names that it may have; any, where none are given. */
  readonly endings?: RegExp
}

const zipEndings =
  /\.(?:zip|jar|war|apk|aar|docx|docm|dotx|xlsx|xlsm|xltx|pptx|pptm|potx|odt|ods|odp|epub|whl|egg|crx|xpi|vsix|nupkg|skill|mcpb|dxt|kmz|3mf|sketch|fig|key|pages|numbers|ipa|cbz)$/i

/** What files begin with. */
const forms: readonly Form[] = [
  {
    name: 'elf',
    magic: ['\x7fELF'],
    isProgram: true,
    endings: /(?:^|\/)[^.]+$|\.(?:so[\d.]*|elf|bin|o|node|out|run)$/i,
  },
  { name: 'pe', magic: ['MZ'], isProgram: true, endings: /\.(?:exe|dll|sys|scr|com|pyd|node|ocx|efi|msi|cpl)$/i },
  {
    name: 'mach-o',
    magic: ['\xfe\xed\xfa\xce', '\xfe\xed\xfa\xcf', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe', '\xca\xfe\xba\xbe'],
    isProgram: true,
    endings: /(?:^|\/)[^.]+$|\.(?:dylib|so|bundle|node|o|class)$/i,
  },
  { name: 'zip', magic: ['PK\x03\x04'], endings: zipEndings },
  { name: 'pdf', magic: ['%PDF-'], endings: /\.(?:pdf|ai)$/i },
  { name: 'png', magic: ['\x89PNG\r\n\x1a\n'] },
  { name: 'jpeg', magic: ['\xff\xd8\xff'] },
  { name: 'gif', magic: ['GIF87a', 'GIF89a'] },
  { name: 'gzip', magic: ['\x1f\x8b'], endings: /\.(?:t?gz|gzip|svgz|emf|nii)$/i },
  { name: '7z', magic: ['7z\xbc\xaf\x27\x1c'], endings: /\.7z$/i },
  { name: 'rar', magic: ['Rar!\x1a\x07'], endings: /\.(?:rar|cbr)$/i },
  { name: 'ole', magic: ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'], endings: /\.(?:doc|xls|ppt|msi|msg|vsd|pub|db)$/i },
  { name: 'wasm', magic: ['\0asm'], endings: /\.wasm$/i },
]

/** Names that a form must stand behind. */
const promises: readonly { readonly endings: RegExp; readonly forms: readonly string[] }[] = [
  { endings: /\.png$/i, forms: ['png', 'jpeg', 'gif'] },
  { endings: /\.jpe?g$/i, forms: ['jpeg', 'png', 'gif'] },
  { endings: /\.gif$/i, forms: ['gif', 'png', 'jpeg'] },
  { endings: /\.pdf$/i, forms: ['pdf'] },
  { endings: /\.(?:docx|xlsx|pptx|zip)$/i, forms: ['zip'] },
]

export interface BinaryFile {
  readonly path: string
  readonly bytes: Uint8Array
}

export interface BinaryReport {
  /** The form is known and no text: what it says is not looked at. */
  readonly isKnown: boolean
  readonly found: readonly EngineRuleName[]
  /** What it holds, as far as it is text; and whether something in it was not read. */
  readonly inner: readonly BinaryFile[]
  readonly cut: string | undefined
}

/** Looks at the bytes of a file, which are run, shown or unpacked by their form and not by their name. */
export function inspectBytes({ path, bytes }: BinaryFile, paths: ReadonlySet<string>): BinaryReport {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1')
  const form = forms.find(({ magic }) => magic.some((each) => head.startsWith(each)))
  const found: EngineRuleName[] = []
  if (isBytecodeAlone(path, paths)) found.push('bytecodeWithoutSource')
  if (form?.isProgram && (form.name !== 'pe' || isPortableExecutable(bytes))) {
    found.push(form.endings!.test(path) ? 'executableFile' : 'disguisedExecutable')
  } else if (isDisguised(path, form, head)) found.push('disguisedFile')
  if (form?.name !== 'zip')
    return { isKnown: form !== undefined && form.name !== 'pe', found, inner: [], cut: undefined }
  const { entries, isEncrypted, cut } = readZip(bytes)
  if (isEncrypted) found.push('encryptedArchive')
  if (entries.some(({ name }) => programPattern.test(name) && documentPattern.test(path)))
    found.push('programInDocument')
  const inner = entries.flatMap(({ name, bytes: unpacked }) =>
    unpacked ? [{ path: `${path}!/${name}`, bytes: unpacked }] : [],
  )
  return { isKnown: true, found, inner, cut }
}

const programPattern = /\.(?:exe|dll|scr|com|bat|cmd|ps1|vbs|vbe|jse?|hta|jar|sh|elf|lnk|py)$|(?:^|\/)vbaproject\.bin$/i
const documentPattern = /\.(?:doc|xls|ppt|od)\w{1,2}$/i

/** `MZ` begins many words; a program says where its real header is. */
function isPortableExecutable(bytes: Uint8Array): boolean {
  if (bytes.length < 64) return false
  const at = Buffer.from(bytes.subarray(60, 64)).readUInt32LE()
  return Buffer.from(bytes.subarray(at, at + 4)).toString('latin1') === 'PE\0\0'
}

function isDisguised(path: string, form: Form | undefined, head: string): boolean {
  const promise = promises.find(({ endings }) => endings.test(path))
  if (promise) return head !== '' && !promise.forms.includes(form?.name ?? '')
  return form?.endings !== undefined && !form.isProgram && /\.\w{1,5}$/.test(path) && !form.endings.test(path)
}

/** `a.pyc`, or `__pycache__/a.cpython-313.pyc`, where no `a.py` stands. */
function isBytecodeAlone(path: string, paths: ReadonlySet<string>): boolean {
  const found = /^(?<dir>(?:.*\/)?)(?<name>[^/]+?)(?:\.cpython-\d+(?:\.opt-\d)?)?\.py[co]$/.exec(path)
  if (!found) return false
  const { dir, name } = found.groups!
  return !paths.has(`${dir}${name}.py`) && !paths.has(`${dir!.replace(/__pycache__\/$/, '')}${name}.py`)
}
