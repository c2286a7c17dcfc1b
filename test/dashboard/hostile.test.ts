import { localApi } from '@skillstead/core'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeBrowser, goWithin, visit, type Visit } from '../support/browser-harness.ts'
import { injections } from '../support/injections.ts'
import { sample } from '../support/long.ts'

const head = '---\nname: trap\ndescription: A trap\n---\n'
/** Documents reject NUL, and fields all control characters. */
const written = injections.map((one) => one.replaceAll('\0', ''))
const spoken = written.map((one) => one.replaceAll('\u0001', ''))
const joined = (max: number) => spoken.join(' \n\n ').slice(0, max)

describeBrowser('untrusted text in the dashboard', () => {
  test('in a SKILL.md never runs as a script on the page of the skill', async () => {
    expect(written.length).toBeGreaterThan(100)
    const visited = await visit()
    const tried = sample(written, 25)
    for (const [place, injection] of tried.entries()) {
      await visited.api.publishSkill({ skillMd: `${head}${injection}\n`, version: `1.0.${place}` })
    }
    const page = await visited.open('/skills/alice/trap?version=1.0.0', { isOwn: true })
    const heard = await listen(page)
    await seesTrouble(page, heard)
    for (const [place, injection] of tried.entries()) {
      await goWithin(page, `/skills/alice/trap?version=1.0.${place}`)
      await page.locator('.facts-column dd', { hasText: `1.0.${place}` }).waitFor()
      await page.locator('.markdown > div').first().waitFor({ state: 'attached' })
      expect(await page.evaluate(findTrouble), injection).toEqual([])
    }
    await dispatchAll(page)
    expect(heard).toEqual([])
  })

  test('never runs as a script on any other page that displays the text', async () => {
    const visited = await visit()
    const fields = await spread(visited)
    const page = await visited.openSignedIn('/skills/alice/trap', { isOwn: true })
    const heard = await listen(page)
    const parts = ['', 'install', 'files', 'versions', 'security', 'provenance', 'similar', 'reviews', 'issues']
    const views = ['?view=raw', '/files?path=SKILL.md', '/files?path=notes.md', '/reviews?by=agents']
    const diffs = ['/versions?from=1.0.0&to=1.0.1']
    const here = ['', ...parts.map((part) => `/${part}`), ...views, ...diffs].map((rest) => `/skills/alice/trap${rest}`)
    for (const path of [...here, '/', `/?q=${encodeURIComponent(joined(200))}`]) {
      await goWithin(page, path)
      expect(await page.getByRole('heading', { name: 'This page failed' }).count(), path).toBe(0)
      expect(await page.evaluate(findTrouble), path).toEqual([])
      await dispatchAll(page)
      for (const text of fields.get(path) ?? []) {
        expect(await page.getByRole('main').textContent(), path).toContain(text)
      }
    }
    expect(heard).toEqual([])
  })

  test('makes no page wider than its window, however long a word is', async () => {
    const visited = await visit()
    const word = 'W'.repeat(4000)
    await spread(visited, (max) => word.slice(0, max))
    const page = await visited.openSignedIn('/skills/alice/trap')
    const parts = ['', '/install', '/files', '/versions', '/security', '/provenance', '/similar', '/reviews', '/issues']
    const here = parts.map((part) => `/skills/alice/trap${part}`)
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 })
      for (const path of [...here, '/skills/alice/trap/reviews?by=agents', '/', '/account/skills']) {
        await goWithin(page, path)
        const overflow = await page.evaluate(() =>
          Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
        )
        expect([path, width, overflow]).toEqual([path, width, 0])
      }
    }
  })

  test('is shown completely and does not freeze the page, however long it is', async () => {
    const visited = await visit()
    const paragraph = 'Boil the water, warm the pot, pour and wait. '.repeat(20)
    const huge = Array.from({ length: 1100 }, (_, place) => `## Part ${place}\n\n${paragraph}`).join('\n\n')
    const slow = ['[', '![', '*a **b ', '~a ~~b', 'a_b', '>', '<a ', '[](']
    const knots = slow.map((knot) => knot.repeat(20_000 / knot.length)).join('\n\n')
    const docs = { huge: `${huge.slice(0, 1024 * 1024)}\n\nThe very end`, knots }
    for (const [name, text] of Object.entries(docs)) {
      await visited.api.publishSkill({ skillMd: `---\nname: ${name}\ndescription: Much\n---\n${text}` })
    }
    const page = await visited.open('/skills/alice/huge')
    await page.getByText('only its beginning is rendered').waitFor()
    await page.getByRole('heading', { name: 'Part 0' }).waitFor()
    await expect.poll(() => page.locator('.markdown h3').count()).toBeGreaterThan(150)
    await expect
      .poll(() => page.locator('.markdown').evaluate((element) => element.textContent.length))
      .toBeLessThan(201_000)
    await page.getByRole('link', { name: 'Read all of it raw' }).click()
    const last = Number(/of (\d+)/.exec((await page.getByText(/Page 1 of/).textContent())!)![1])
    await page.goto(`${visited.node.url}/skills/alice/huge?view=raw&page=${last}`)
    await page.getByText('The very end').waitFor()
    await page.goto(`${visited.node.url}/skills/alice/knots`)
    // In the end the page contains the whole text, rendered or not, and responds in the meantime.
    await page.getByText('>'.repeat(100)).waitFor()
    await page.getByRole('link', { name: 'Files' }).click()
    await page.getByRole('link', { name: 'SKILL.md' }).waitFor()
  })
})

/** Records forbidden events while the page is open. The harness checks requests and the console. */
async function listen(page: Page): Promise<string[]> {
  const heard: string[] = []
  const origin = new URL(page.url()).origin
  await page.exposeFunction('pwned', () => heard.push(`a script ran at ${page.url()}`))
  page.on('dialog', (dialog) => {
    heard.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('popup', (popup) => heard.push(`a window: ${popup.url()}`))
  page.on('download', (download) => heard.push(`a download: ${download.url()}`))
  page.on('framenavigated', (frame) => {
    if (frame !== page.mainFrame() || !frame.url().startsWith(`${origin}/`)) heard.push(`left for ${frame.url()}`)
  })
  return heard
}

/** Checks that the detection finds injected scripts. */
async function seesTrouble(page: Page, heard: string[]): Promise<void> {
  await page.evaluate(() => {
    Reflect.apply(Reflect.get(window, 'pwned') as () => void, window, [])
    document.querySelector('main')!.append(document.createElement('template'))
  })
  await expect.poll(() => heard).toHaveLength(1)
  await expect.poll(() => page.evaluate(findTrouble)).toHaveLength(1)
  heard.length = 0
  await page.evaluate(() => document.querySelector('main > template')!.remove())
}

/** Sends all mouse, keyboard and animation events to all elements. */
async function dispatchAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    const kinds = 'mouseover mouseenter focus focusin load error wheel scroll copy toggle animationend begin'.split(' ')
    for (const element of document.querySelectorAll('main .markdown *')) {
      for (const kind of kinds) element.dispatchEvent(new Event(kind, { bubbles: true }))
    }
  })
}

/** Runs in the page: finds elements and attributes that untrusted text must never create. */
function findTrouble(): string[] {
  const trouble: string[] = []
  const foreign =
    'script,style,iframe,frame,object,embed,applet,base,link,meta,svg:not(.icon):not(.logo),math,template,img:not([src*="/files/"]),picture,video,audio,source'
  const allowed = new Set(
    (
      'h2 h3 h4 h5 h6 p br hr ul ol li dl dt dd blockquote pre code em strong del s sub sup kbd a table thead tbody tr th td ' +
      'details summary div span button'
    ).split(' '),
  )
  const known = new Set('href title align start colspan rowspan open target rel tabindex data-language'.split(' '))
  // oxlint-disable-next-line unicorn/consistent-function-scoping -- the page gets this function alone
  const isAdded = (element: Element, name: string) =>
    (name === 'id' && element.id.startsWith('readme-')) ||
    (name === 'class' && /^(?:code-[a-z]+|copyable|copy)$/.test(element.className)) ||
    (name === 'type' && element.matches('button.copy'))
  for (const element of document.body.querySelectorAll(foreign)) trouble.push(element.outerHTML)
  for (const element of document.querySelectorAll('*')) {
    for (const { name } of element.attributes) {
      if (name.startsWith('on') || name === 'srcdoc' || name === 'formaction') trouble.push(element.outerHTML)
      if (name === 'style' && !element.closest('.chart')) trouble.push(element.outerHTML)
    }
  }
  for (const link of document.querySelectorAll('a')) {
    const href = link.getAttribute('href')
    const isOurs = href?.startsWith('/') === true && !href.startsWith('//')
    if (href !== null && !isOurs && !/^(?:https?:\/\/|mailto:|#main$|#readme-)/.test(href)) trouble.push(link.outerHTML)
    if (href !== null && !isOurs && !href.startsWith('#') && !link.relList.contains('noopener'))
      trouble.push(link.outerHTML)
  }
  for (const element of document.querySelectorAll('.markdown *')) {
    if (!allowed.has(element.localName)) trouble.push(element.outerHTML)
    for (const { name } of element.attributes)
      if (!known.has(name) && !isAdded(element, name)) trouble.push(element.outerHTML)
  }
  return trouble
}

/** Writes all injections into every field that a user can set; returns the text that pages must show. */
async function spread({ registry, api, createUser }: Visit, text = joined): Promise<Map<string, string[]>> {
  const skillMd = `---\nname: trap\ndescription: A trap\nmetadata:\n  tags: ["<b onclick=pwned()>"]\n---\n${text(400_000)}\n`
  const description = text(4000)
  const files = [{ path: 'notes.md', content: injections.join('\n') }]
  await api.publishSkill({ skillMd: `${head}# A trap\n`, version: '1.0.0' })
  await api.publishSkill({ skillMd, version: '1.0.1', changelog: text(19_000), files })
  await api.publishSkill({
    name: 'alice/trap',
    description,
    displayName: '<img src=x onerror=pwned()>',
    license: '<svg onload=pwned()>',
    category: '<script>pwned()</script>',
    deprecated: true,
    deprecationMessage: text(900),
  })
  await createUser('bob')
  const bob = localApi(registry, await registry.getCaller('bob'))
  const said = { title: '<img src=x onerror=pwned()>', body: text(9000) }
  await bob.createReview({ name: 'alice/trap', rating: 1, ...said })
  await bob.createIssue({ name: 'alice/trap', type: 'bug', ...said })
  await api.createAgentReview({ name: 'alice/trap', agentKey: 'trap:1', rating: 1, content: text(3900) })
  const handler = '<img src=x onerror=pwned()>'
  return new Map([
    ['/skills/alice/trap', ['<svg onload=pwned()>', '<script>pwned()</script>']],
    ['/skills/alice/trap/reviews', [handler]],
    ['/skills/alice/trap/issues', [handler]],
    ['/skills/alice/trap/files?path=notes.md', [handler]],
    ['/skills/alice/trap?view=raw', [handler]],
  ])
}
