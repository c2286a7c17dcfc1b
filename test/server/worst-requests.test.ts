import { openNode, type Fixture } from '../support/server-harness.ts'
import { fillWorst, listWorstRequests, type WorstSizes } from '../support/worst-requests.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** `pnpm bench blocked` sends the same requests for a catalogue that is as large as they may meet. */
const small: WorstSizes = {
  skills: 12,
  files: 4,
  packs: 3,
  packSkills: 10,
  versions: 205,
  wideVersions: 3,
  wideFiles: 40,
  documentBytes: 200_000,
  pictureBytes: 100_000,
  items: 1000,
  values: 20_000,
}

describe('the worst valid requests', () => {
  let fixture: Fixture & { close(): Promise<void> }
  let key: string
  beforeAll(async () => {
    fixture = await openNode()
    key = await fillWorst(fixture.registry, small)
  })
  afterAll(() => fixture.close())

  it('are answered', async () => {
    const wrong: string[] = []
    for (const { title, status = 200, request } of await listWorstRequests(fixture.node.url, small, key)) {
      const response = await request(fixture.node.url)
      const text = await response.text()
      if (response.status !== status) wrong.push(`${title}: ${response.status}, ${text.slice(0, 200)}`)
    }
    expect(wrong).toEqual([])
  })

  it('let others be answered while one of them has a thousand parts', async () => {
    const requests = await listWorstRequests(fixture.node.url, small, key)
    const batch = requests.find(({ title }) => title.startsWith('POST /blobs/batch'))!
    const order: string[] = []
    const response = await batch.request(fixture.node.url)
    const other = fetch(`${fixture.node.url}/healthz`).then(() => order.push('other'))
    await response.text()
    order.push('heavy')
    await other
    expect(order).toEqual(['other', 'heavy'])
  })
})
