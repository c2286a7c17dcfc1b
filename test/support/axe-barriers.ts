import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Where the schemes differ: our styles choose nothing but colours by them (`light-dark`). */
const colourRules = ['color-contrast', 'link-in-text-block']
const runs = [
  { colorScheme: 'light', options: { resultTypes: ['violations'] } },
  { colorScheme: 'dark', options: { resultTypes: ['violations'], runOnly: colourRules } },
] as const satisfies { colorScheme: 'light' | 'dark'; options: axe.RunOptions }[]

let source: string | undefined

/** What axe finds serious or critical on the page in either scheme: https://github.com/dequelabs/axe-core. */
export async function findBarriers(page: Page): Promise<string[]> {
  const world = await openWorld(page)
  try {
    const barriers: string[] = []
    for (const { colorScheme, options } of runs) {
      await page.emulateMedia({ colorScheme })
      const found = await world.run(
        `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations))`,
      )
      barriers.push(...(JSON.parse(found) as axe.Result[]).flatMap((one) => toLines(one, colorScheme)))
    }
    await page.emulateMedia({ colorScheme: null })
    return barriers
  } finally {
    await world.close()
  }
}

/** The policy of the page lets nothing be added to it; the tools of the browser may, once a document. */
async function openWorld(page: Page) {
  const tools = await page.context().newCDPSession(page)
  const { frameTree } = await tools.send('Page.getFrameTree')
  const frameId = frameTree.frame.id
  const { executionContextId } = await tools.send('Page.createIsolatedWorld', { frameId, worldName: 'axe' })
  async function run(expression: string): Promise<string> {
    const { result, exceptionDetails } = await tools.send('Runtime.evaluate', {
      expression,
      contextId: executionContextId,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value as string
  }
  if ((await run('typeof axe')) === 'undefined') {
    source ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    await run(`${source}; 'here'`)
  }
  return { run, close: () => tools.detach() }
}

function toLines({ id, impact, nodes }: axe.Result, colorScheme: string): string[] {
  if (impact !== 'serious' && impact !== 'critical') return []
  return nodes.map(({ html, failureSummary = '' }) => `${colorScheme}, ${id}: ${html.slice(0, 160)}: ${failureSummary}`)
}
