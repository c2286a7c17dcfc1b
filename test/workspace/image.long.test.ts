import { execFile } from 'node:child_process'
import { chown, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canRun } from '../support/can-run.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const missing = [
  ...(process.getuid?.() === 0 ? [] : ['root']),
  ...['buildah', 'debootstrap'].filter((name) => !canRun(name, '--version')),
  ...(canRun('unshare', '--mount', 'true') ? [] : ['the right to mount']),
]
const certificates = '/etc/ssl/certs/ca-certificates.crt'
/** Variables by which programs of an image trust the certificates of a proxy of this machine. */
const trust = ['NODE_EXTRA_CA_CERTS', 'npm_config_cafile'].map((name) => `${name}=${certificates}`)

let scratch: string
let image: string

const sh = (script: string, ...args: string[]) =>
  run('bash', ['--norc', '-euo', 'pipefail', '-c', script, 'bash', ...args], { maxBuffer: 64 * 1024 * 1024 })

if (missing.length === 0) {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-debs-'))
  const listing = sh('timeout 120 debootstrap --variant=minbase --print-debs trixie "$1" >/dev/null', folder)
  await listing.catch(() => missing.push('a mirror of Debian'))
  await rm(folder, { recursive: true, force: true })
}

const buildah = async (...args: string[]) => {
  const folders = ['--storage-driver', 'vfs', '--root', join(scratch, 'store'), '--runroot', join(scratch, 'run')]
  return (await run('buildah', [...folders, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout.trim()
}

/** Makes an image from another one, or from nothing, and a folder that is copied into it. */
async function makeImage(name: string, from: string, folder: string, env: readonly string[] = []): Promise<void> {
  const container = await buildah('from', '--pull-never', from)
  await buildah('copy', container, folder, '/')
  if (env.length > 0) await buildah('config', ...env.flatMap((one) => ['--env', one]), container)
  await buildah('commit', '--rm', container, name)
}

/** Stand-ins for the images that a registry has: Debian from its packages, and with this Node and npm added. */
async function makeBases(): Promise<void> {
  const debian = join(scratch, 'debian')
  await sh('debootstrap --variant=minbase trixie "$1" >&2', debian)
  await makeImage('docker.io/library/debian:trixie-slim', 'scratch', debian)
  await rm(debian, { recursive: true })
  const node = join(scratch, 'node')
  const npm = dirname(dirname(await realpath((await sh('command -v npm')).stdout.trim())))
  await sh(
    `mkdir -p "$1/usr/local/bin" "$1/usr/local/lib/node_modules" "$1$(dirname "$4")"
    cp "$2" "$1/usr/local/bin/node"; cp -r "$3" "$1/usr/local/lib/node_modules/npm"; cp "$4" "$1$4"
    for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$1/usr/local/bin/$name"; done`,
    node,
    process.execPath,
    npm,
    certificates,
  )
  await makeImage('docker.io/library/node:26-trixie-slim', 'docker.io/library/debian:trixie-slim', node, trust)
}

/** Runs a shell script in the image with a read-only root, as a user; only /data and /tmp can be written. */
async function runInImage(user: string, data: string, script: string): Promise<string> {
  const { stdout, stderr } = await sh(
    `exec unshare --mount --pid --net --fork --kill-child bash --norc -euc '
    ip link set lo up 2>/dev/null || true
    mount --bind "$1" "$1"; mount --bind "$2" "$1/data"; mount -t tmpfs -o exec,mode=1777 tmpfs "$1/tmp"
    mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; mount -o remount,ro,bind "$1"
    exec chroot --userspec="$3" "$1" /usr/bin/env -i HOME=/data HOST=0.0.0.0 PATH=/usr/local/bin:/usr/bin:/bin sh -c "$4" 2>&1
    ' bash "$@"`,
    image,
    data,
    user,
    script,
  )
  return stdout + stderr
}

const serveOnce = `
  (touch /written) 2>/dev/null && echo the root can be written
  skillstead serve --data /data & node=$!
  for try in $(seq 60); do skillstead health && break; sleep 1; done
  kill $node; wait $node; echo it ended with $?`

describe.skipIf(missing.length > 0)(
  `the image of examples/deploy${missing.length > 0 ? `: without ${missing.join(', ')}` : ''}`,
  () => {
    beforeAll(async () => {
      scratch = await mkdtemp(join(tmpdir(), 'skillstead-image-'))
      await makeBases()
      const context = join(scratch, 'context')
      await mkdir(context)
      await sh('cd "$1"; git ls-files -z | tar -c --null -T - | tar -x -C "$2"', root, context)
      const file = join(context, 'examples/deploy/Containerfile')
      await buildah(
        'bud',
        '--isolation',
        'chroot',
        '--pull-never',
        '--format',
        'docker',
        '-f',
        file,
        '-t',
        'ours',
        context,
      )
      const container = await buildah('from', '--pull-never', 'localhost/ours')
      image = await buildah('mount', container)
    }, 900_000)
    afterAll(async () => {
      await buildah('umount', '--all')
      await rm(scratch, { recursive: true, force: true })
    }, 300_000)

    it('states the user, the health check and the command', async () => {
      const { Docker: docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'localhost/ours'))
      expect(docker.config).toMatchObject({
        User: '65532:65532',
        Healthcheck: { Test: ['CMD', 'skillstead', 'health'] },
        Entrypoint: ['/usr/local/bin/skillstead'],
        Cmd: ['serve', '--data', '/data'],
      })
      const { uid, gid, mode } = await stat(join(image, 'data'))
      expect([uid, gid, mode & 0o777]).toEqual([65532, 0, 0o770])
    })

    it.each(['65532:65532', '12345:0', '0:0'])('serves with a read-only root as the user %s', async (user) => {
      const data = await mkdtemp(join(scratch, 'data-'))
      await chown(data, ...(user.split(':').map(Number) as [number, number]))
      const said = await runInImage(user, data, serveOnce)
      expect(said).toContain('http://127.0.0.1:7545: ready')
      expect(said).toMatch(/it ended with 0\n$/)
      expect(said).not.toContain('the root can be written')
      expect(await readdir(data)).toContain('skillstead.db')
    })

    it('exits with an error that names the data folder if its user cannot write there', async () => {
      const data = await mkdtemp(join(scratch, 'data-'))
      expect(await runInImage('12345:12345', data, 'skillstead serve --data /data; echo $?')).toMatch(/\/data.*\n1\n$/s)
    })
  },
)
