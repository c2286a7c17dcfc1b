import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { findFreePort } from '../support/free-port.ts'
import { hasNginx, startNginx } from '../support/nginx.ts'
import type { PathMode, PathProxy } from '../support/path-proxy.ts'
import { pathActs, publishBelow } from '../support/public-path-acts.ts'
import { describeSkopeo, runSkopeo } from '../support/skopeo.ts'
import { makeProject } from '../support/skills-program.ts'

const modes: readonly PathMode[] = ['strips', 'keeps']
const titles = { strips: 'nginx, removes the path', keeps: 'nginx, keeps the path' }

/** Opens nginx with the blocks of `docs/deploy.md`, for the path `/skills`. */
async function openNginx(_path: string, mode: PathMode): Promise<PathProxy> {
  const docs = await readFile(join(import.meta.dirname, '../../docs/deploy.md'), 'utf8')
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  return {
    origin,
    async aim(target) {
      const common = readBlock(docs, 'nginx')
        .replace(/^location .*\n *proxy_pass .*\n/m, '')
        .replace(/\}\s*$/, '')
      const blocks = [titles[mode], 'nginx, at the root of the host'].map((title) => readBlock(docs, title))
      const locations = blocks.join('\n').replaceAll('127.0.0.1:7545', `127.0.0.1:${target}`)
      const server = `server {\nlisten 127.0.0.1:${port};\n${common.replace('$host', '$http_host')}\n${locations}\n}`
      await startNginx(() => server, port)
    },
  }
}

/** The code block with this comment in its first line. */
function readBlock(docs: string, title: string): string {
  const start = docs.indexOf(`\`\`\`\n# ${title}\n`)
  expect(start, title).toBeGreaterThan(0)
  return docs.slice(start + 4, docs.indexOf('\n```', start + 4))
}

describe.skipIf(!hasNginx)(`nginx in front of a node${hasNginx ? '' : ' (skipped: needs nginx)'}`, () => {
  describe.each(modes)('that %s the path', (mode) => {
    it.each(Object.entries(pathActs))('%s', async (_, act) => {
      expect.hasAssertions()
      await act(await publishBelow(openNginx, mode))
    })

    it('redirects the path without its final slash, and serves the discovery pack at the root of the host', async () => {
      const node = await publishBelow(openNginx, mode, { discoveryPack: 'office' })
      await node.api.createPack({
        slug: 'office',
        name: 'Office',
        description: 'For the office',
        skills: ['alice/pdf'],
      })
      expect((await fetch(node.url)).url).toBe(`${node.url}/`)
      for (const base of [node.origin, node.url]) {
        const response = await fetch(`${base}/.well-known/agent-skills/index.json`)
        expect(response.status, base).toBe(200)
        expect(await response.text()).toContain('"pdf"')
      }
      const discovery = await fetch(`${node.origin}/.well-known/clawhub.json`)
      expect(await discovery.json()).toMatchObject({ apiBase: `${node.url}/clawhub` })
    })

    it('lets the command `skills add` install a skill', async () => {
      const { url } = await publishBelow(openNginx, mode)
      const { skills, installed } = await makeProject(url)
      const { code, stdout } = await skills('add', `${url}/alice/pdf`, '--yes')
      expect(code, stdout).toBe(0)
      expect(await installed()).toEqual(['pdf/SKILL.md'])
    })
  })

  describeSkopeo('Skopeo', () => {
    it.each(modes)('lists tags and copies an artifact behind nginx that %s the path', async (mode) => {
      const { origin } = await publishBelow(openNginx, mode)
      const folder = await makeFolder()
      const image = `docker://${origin.replace('http://', '')}/alice/pdf`
      const tags = await runSkopeo(folder, ['list-tags', '--tls-verify=false', image])
      expect(JSON.parse(tags.stdout || '{}'), tags.stderr).toMatchObject({ Tags: expect.arrayContaining(['1.0.0']) })
      const args = ['--insecure-policy', 'copy', '--src-tls-verify=false', `${image}:1.0.0`, 'oci:copied:1.0.0']
      const copied = await runSkopeo(folder, args)
      expect(copied.code, copied.stderr).toBe(0)
    })
  })
})
