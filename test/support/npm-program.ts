import { execFile } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { toChildEnvironment } from './child-environment.ts'
import { makeFolder, type Finished } from './cli-harness.ts'

/** A program of the npm registry in a folder of its own, with the node of this test. */
export interface NpmProgram {
  /** Runs it in a folder with nothing of the user's environment but what `env` names. */
  run(args: readonly string[], options: RunOptions): Promise<Finished>
  /** Its path, for programs that need a terminal. */
  readonly path?: string
}

interface RunOptions {
  readonly cwd: string
  readonly env: Record<string, string>
  /** Gets what the program has printed so far, each time that it prints more. */
  readonly onText?: ((printed: string) => void) | undefined
}

const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)

/** The npm of this machine. */
export const npm: NpmProgram = { run: (args, options) => runClean('npm', args, options) }

/** Installs a package of the npm registry, by default without running its scripts. */
export async function installProgram(
  specifier: string,
  bin: string,
  { runsScripts = false }: { readonly runsScripts?: boolean } = {},
): Promise<NpmProgram> {
  const folder = await makeFolder()
  const options = [`--ignore-scripts=${!runsScripts}`, '--no-audit', '--no-fund', '--no-save', '--prefix', folder]
  const installed = await run('npm', ['install', ...options, specifier], {
    cwd: folder,
    // npm needs what the machine says about proxies and certificates.
    env: { ...process.env, PATH: path },
  })
  if (installed.code !== 0) throw new Error(`npm could not install ${specifier}: ${installed.stderr}`)
  const program = join(folder, 'node_modules', '.bin', bin)
  return { path: program, run: (args, how) => runClean(program, args, how) }
}

function runClean(file: string, args: readonly string[], { cwd, env, onText }: RunOptions): Promise<Finished> {
  return run(file, args, { cwd, env: toChildEnvironment({ PATH: path, NO_COLOR: '1', ...env }), onText })
}

function run(
  file: string,
  args: readonly string[],
  { onText, ...options }: Omit<RunOptions, 'env'> & { env: NodeJS.ProcessEnv },
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { ...options, timeout: 240_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
    let printed = ''
    child.stdout!.on('data', (text: string) => onText?.((printed += text)))
    child.stdin!.end()
  })
}
