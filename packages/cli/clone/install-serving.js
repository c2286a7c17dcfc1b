// Installs the packages that `start` and `skillstead` need, unless they were installed from the same lockfile and
// manifests already. Plain JavaScript: the first run has only the machine's own Node, which may be an old one.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const stamp = join(root, 'node_modules/.skillstead-installed')
const install = 'npx --yes pnpm@12 install --filter @skillstead/cli... --filter @skillstead/dashboard...'
/** Silence of the install before the first notice, and between later notices, in milliseconds. */
const silenceMs = { first: 10_000, later: 60_000 }
/** Time for one attempt at a download. */
const fetchMs = Number(process.env.npm_config_fetch_timeout) || 60_000
/**
 * Silence after which the install is ended, in milliseconds: longer than an attempt of npm or pnpm at a download, whose
 * failure they report.
 */
const stallMs = 3 * fetchMs
const stalled = 'stalled'
const advice =
  'If nothing arrives, check the network. Behind a proxy set HTTPS_PROXY, and for another registry npm_config_registry.'

if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digestInputs()) writeStamp()
else {
  console.error(`Installing the packages of ${root}, on the first start about 60 MB, and Node itself, about 50 MB ...`)
  let status = await runInstall()
  if (status === stalled) {
    console.error(`Nothing arrived for ${stallMs / 1000} s: trying once more, with what has arrived.`)
    status = await runInstall()
  }
  if (status === 0) writeStamp()
  else console.error(`The packages could not be installed. ${advice} Run this in ${root} to see why: ${install}`)
  process.exitCode = status === 0 ? 0 : 1
}

/**
 * Runs the install and returns its exit code, or `stalled` if it was ended after a long silence. Some silence is
 * normal: a script of the package `node` downloads Node without any output.
 */
function runInstall() {
  // By default, npm waits five minutes for each attempt at a download that stalls.
  const env = { npm_config_fetch_timeout: String(fetchMs), ...process.env }
  // A process group of its own, so that a stalled install ends with all programs that it started.
  const isGroup = process.platform !== 'win32'
  const child = spawn(install, { cwd: root, shell: true, stdio: ['ignore', 'pipe', 'pipe'], env, detached: isGroup })
  let isStalled = false
  const end = () => {
    try {
      if (isGroup) process.kill(-child.pid, 'SIGKILL')
      else child.kill()
    } catch {
      // The install has ended by itself.
    }
  }
  const interrupt = () => {
    end()
    process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, interrupt)
  let [notice, stall] = []
  function restart(noticeMs) {
    clearTimeout(notice)
    notice = setTimeout(notify, noticeMs)
  }
  function notify() {
    console.error(`Still waiting for packages, or for Node itself, which has about 50 MB. ${advice}`)
    restart(silenceMs.later)
  }
  function restartStall() {
    clearTimeout(stall)
    stall = setTimeout(() => {
      isStalled = true
      end()
    }, stallMs)
  }
  restart(silenceMs.first)
  restartStall()
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk) => {
      // Standard output belongs to the command that follows.
      process.stderr.write(chunk)
      restart(silenceMs.first)
      restartStall()
    })
  return new Promise((resolve) => {
    child.on('close', (status) => {
      clearTimeout(notice)
      clearTimeout(stall)
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, interrupt)
      resolve(isStalled ? stalled : status)
    })
  })
}

/**
 * Writes the stamp with the time of the newest input: the launcher installs again if an input is newer than the stamp.
 */
function writeStamp() {
  writeFileSync(stamp, digestInputs())
  // The time is rounded up, because file systems store nanoseconds.
  const newest = new Date(Math.ceil(Math.max(...listInputs().map((path) => statSync(path).mtimeMs))) + 1)
  utimesSync(stamp, newest, newest)
}

function digestInputs() {
  const hash = createHash('sha256')
  for (const path of listInputs())
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0')
  return hash.digest('hex')
}

/** The lockfile and all manifests: what an install depends on. */
function listInputs() {
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)
  const manifests = ['', ...folders].map((folder) => join(folder, 'package.json'))
  return ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests].map((path) => join(root, path)).filter(existsSync)
}
