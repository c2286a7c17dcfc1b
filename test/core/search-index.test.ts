import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { IndexThread } from '../../packages/core/src/search/index-thread.ts'
import { inflectionsOf } from '../../packages/core/src/search/term-groups.ts'
import type { SearchDocument } from '../../packages/core/src/search/search-document.ts'
import { createSearchIndex, type IndexQuery } from '../../packages/core/src/search/search-index.ts'
import { parseQuery, queryTermsMax, termLengthMax, tokenize } from '../../packages/core/src/search/words/tokenize.ts'
import { toIndexText } from '../../packages/core/src/search/index-text.ts'
import { toContentVector } from '../../packages/core/src/search/words/term-vector.ts'
import { topSlots } from '../../packages/core/src/search/top-slots.ts'
import { TypoDictionary, editDistance } from '../../packages/core/src/search/words/typo-dictionary.ts'

function skill(id: number, name: string, more: Partial<SearchDocument> = {}): SearchDocument {
  const owner = more.owner ?? 'ada'
  return {
    id,
    name,
    owner,
    fullName: `${owner}/${name}`,
    displayName: name,
    keywords: [],
    description: '',
    headings: [],
    summary: '',
    category: '',
    license: '',
    audience: 'guests',
    readers: [],
    stub: false,
    verified: false,
    deprecated: false,
    securityScore: null,
    loadedBy: 0,
    downloads: 0,
    stars: 0,
    effectLow: -2,
    publishedAt: 0,
    ...more,
  }
}

function indexOf(...documents: SearchDocument[]) {
  const index = createSearchIndex()
  for (const document of documents) index.put(document)
  return index
}

function query(q: string, more: Partial<IndexQuery> = {}): IndexQuery {
  return { q, offset: 0, limit: 20, viewer: null, filters: { includeStubs: false }, ...more }
}

const sortKeys = { downloads: 'downloads', recent: 'publishedAt', stars: 'stars', effect: 'effectLow' } as const

function listNaively(documents: SearchDocument[], { viewer, filters, sort, offset, limit }: Omit<IndexQuery, 'q'>) {
  const column = sortKeys[sort ?? 'downloads']
  const matches = documents
    .filter(({ audience, readers }) => {
      if (audience === 'guests' || (viewer && audience === 'users')) return true
      return readers.some((key) => viewer?.includes(key))
    })
    .filter(({ stub }) => filters.includeStubs || !stub)
    .filter(({ verified }) => verified === (filters.verified ?? verified))
    .filter(({ deprecated }) => deprecated === (filters.deprecated ?? deprecated))
    .toSorted((a, b) => b[column] - a[column] || (a.fullName < b.fullName ? -1 : 1))
  return { ids: matches.slice(offset, offset + limit).map(({ id }) => id), total: matches.length }
}

const onLost = (error: unknown) => expect.unreachable(String(error))

const nothing = { ids: [], total: 0 }

describe('finding', () => {
  const index = indexOf(
    skill(1, 'pdf-forms', { description: 'Fill in PDF forms. Merge and split documents.' }),
    skill(2, 'invoices', { description: 'Read invoices from PDF files.', headings: ['Merge totals'] }),
    skill(3, 'kubernetes-rollout', { description: 'Deploy containers.', keywords: ['k8s'], summary: 'Watches pods.' }),
    skill(4, 'nano-banana', { displayName: 'Nano Banana 图像生成', description: '图像生成时使用此技能。' }),
    skill(5, 'cpp-review', { description: 'Reviews C++ and C# code in a café.' }),
  )
  const find = (q: string) => index.search(query(q)).ids

  test('every field is searched', () => {
    for (const q of ['rollout', 'ada rollout', 'k8s', 'containers', 'pods']) expect(find(q)[0]).toBe(3)
    expect(find('totals')).toEqual([2])
  })

  test('skills with all terms are found, and skills that share one word with the query are not', () => {
    expect(find('merge invoices pdf')).toEqual([2, 1])
    expect(index.search(query('deploy pdf'))).toEqual({ ids: [3], total: 1 })
  })

  test('skills with most terms of a long query are found if no skill has all terms', () => {
    expect(find('merge or split forms of several banks')).toEqual([1])
  })

  test('a filter removes matches, and never adds any', () => {
    const filtered = indexOf(
      skill(1, 'pdf-tools', { category: 'documents' }),
      skill(2, 'pdf-viewer', { category: 'reading' }),
      skill(3, 'power-tools', { category: 'reading' }),
    )
    expect(filtered.search(query('pdf tools')).ids).toEqual([1])
    expect(filtered.search(query('pdf tools', { filters: { includeStubs: false, category: 'reading' } })).ids).toEqual(
      [],
    )
  })

  test('skills are found by the name of their category', () => {
    const sorted = indexOf(skill(1, 'invoices', { category: 'Tax & Law' }), skill(2, 'forms', { category: 'office' }))
    expect(sorted.search(query('tax')).ids).toEqual([1])
    expect(sorted.search(query('law invoices', { explain: true })).matches).toMatchObject([
      { fields: ['name', 'category'], terms: ['invoices', 'law'] },
    ])
  })

  test('an unknown word finds nothing', () => {
    expect(index.search(query('zeppelin'))).toEqual(nothing)
    expect(index.search(query('?!'))).toEqual(nothing)
  })

  test('no query finds everything', () => {
    expect(index.search(query(''))).toEqual({ ids: [5, 2, 3, 4, 1], total: 5 })
    expect(index.search(query('  ')).total).toBe(5)
  })

  test('a misspelt word finds the intended word', () => {
    for (const q of ['kubernets', 'kubernnetes', 'kubrenetes', 'kubernetas', 'kubernet']) expect(find(q)).toEqual([3])
    expect(find('fill pdf fomrs')[0]).toBe(1)
  })

  test('a word that occurs in a skill is not treated as a misspelling of another word', () => {
    expect(find('pods')).toEqual([3])
    expect(index.search(query('forms')).total).toBe(1)
  })

  test('the last word of a query may be unfinished, earlier words may not', () => {
    expect(find('deploy contai')).toEqual([3])
    expect(find('contai ')).toEqual([])
  })

  test('words written together are split', () => {
    const apart = indexOf(...[1, 2, 3].map((id) => skill(id, `web-${id}`, { description: 'scraping pages' })))
    expect(apart.search(query('webscraping')).total).toBe(3)
  })

  test('other forms of a word are found after the word itself', () => {
    expect(find('deploying container')).toEqual([3])
    const forms = indexOf(
      skill(1, 'a', { description: 'creates slides' }),
      skill(2, 'b', { description: 'create slide' }),
    )
    expect(forms.search(query('create slide')).ids).toEqual([2, 1])
  })

  test('Chinese text is found by any part of it, by one character, and if the query omits one character', () => {
    for (const q of ['图像', '像生成', '图像生成时使用此', '图像生成使用此', '此', '技']) expect(find(q)).toEqual([4])
    for (const q of ['像成', '图生']) expect(find(q)).toEqual([4])
    expect(find('图此')).toEqual([])
    expect(find('天气')).toEqual([])
  })

  test('accents, case and possessives make no difference, and C++ is not C#', () => {
    for (const q of ['CAFE', 'café', 'cafe’s', 'C++', 'c#']) expect(find(q)).toEqual([5])
    expect(find('c# c++')).toEqual([5])
  })

  test('.NET is found by its name and within names such as ASP.NET, but not by the word net', () => {
    const texts = ['Build ASP.NET services.', 'Cast a fishing net.', 'See example.net for .NET 8.']
    const dotted = indexOf(...texts.map((description, i) => skill(i + 1, `skill-${i}`, { description })))
    expect(dotted.search(query('.NET')).ids.toSorted()).toEqual([1, 3])
    expect(dotted.search(query('asp.net')).ids[0]).toBe(1)
    expect(dotted.search(query('fishing net')).ids[0]).toBe(2)
  })

  test('kubectl, snake_case and file extensions are found as they are written', () => {
    const texts = [
      'Runs kubectl for you.',
      'Names columns in snake_case.',
      'Fills an .xlsx workbook.',
      'Snakes, in case.',
    ]
    const written = indexOf(...texts.map((description, i) => skill(i + 1, `skill-${i}`, { description })))
    for (const q of ['kubectl', 'kubectl apply']) expect(written.search(query(q)).ids[0]).toBe(1)
    for (const q of ['snake_case', 'snake case']) expect(written.search(query(q)).ids[0]).toBe(2)
    for (const q of ['.xlsx', 'report.xlsx', '*.XLSX']) expect(written.search(query(q)).ids[0]).toBe(3)
  })

  test('product names such as JavaScript are not split at an inner capital', () => {
    const products = indexOf(
      skill(1, 'js', { description: 'Writes JavaScript.' }),
      skill(2, 'beans', { description: 'Writes Java.' }),
    )
    expect(products.search(query('java beans')).ids).toEqual([2])
    expect(products.search(query('JavaScript')).ids).toEqual([1])
  })

  test('stop words are ignored unless the query has no other words', () => {
    expect(index.search(query('how to use the pods')).total).toBe(1)
    expect(find('from')).toEqual([2])
  })

  test('each match is explained by the matched words and fields', () => {
    const [invoices] = index.search(query('merging invoices', { explain: true })).matches!
    expect(invoices).toEqual({
      score: expect.any(Number),
      fields: ['name', 'description', 'headings'],
      terms: ['invoices', 'merge'],
    })
    const { ids, matches } = index.search(query('pdf', { explain: true }))
    expect(ids).toEqual([1, 2])
    expect(matches).toMatchObject([
      { fields: ['name', 'description'], terms: ['pdf'] },
      { fields: ['description'], terms: ['pdf'] },
    ])
    expect(matches![0]!.score).toBeGreaterThan(matches![1]!.score)
  })
})

describe('order', () => {
  test('a skill with the query as its name comes first', () => {
    const index = indexOf(
      skill(1, 'pdf-tools', { description: 'pdf pdf pdf', keywords: ['pdf'], headings: ['pdf'] }),
      skill(2, 'pdf', { description: 'Documents.' }),
      skill(3, 'malicious-pdf-analysis', { description: 'pdf', downloads: 5_000_000 }),
    )
    expect(index.search(query('pdf')).ids[0]).toBe(2)
  })

  test('terms in one sentence come before the same terms apart', () => {
    const index = indexOf(
      skill(1, 'one', { description: 'Rotate secrets. Check the vault. Review keys.' }),
      skill(2, 'two', { description: 'Check and review. Then rotate vault keys. Keep secrets.' }),
    )
    expect(index.search(query('rotate vault keys')).ids).toEqual([2, 1])
    expect(index.search(query('keys vault rotate')).ids).toEqual([2, 1])
  })

  test('popularity only decides between equal matches', () => {
    const index = indexOf(
      skill(1, 'a', { description: 'lint css' }),
      skill(2, 'b', { description: 'lint css', downloads: 900 }),
      skill(3, 'c', { description: 'lint html', downloads: 5_000_000, stars: 9000 }),
      skill(4, 'd', { description: 'lint css', deprecated: true, downloads: 900 }),
    )
    expect(index.search(query('lint css')).ids).toEqual([2, 1, 4])
  })

  test('without a query, skills are ordered by downloads by default, and every sort is descending', () => {
    const index = indexOf(
      skill(1, 'b', { downloads: 5, stars: 1, publishedAt: 30 }),
      skill(2, 'a', { downloads: 5, stars: 3, publishedAt: 10 }),
      skill(3, 'c', { downloads: 9, stars: 2, publishedAt: 20 }),
    )
    expect(index.search(query('')).ids).toEqual([3, 2, 1])
    expect(index.search(query('', { sort: 'stars' })).ids).toEqual([2, 3, 1])
    expect(index.search(query('', { sort: 'recent' })).ids).toEqual([1, 3, 2])
    index.putCounts({ id: 1, downloads: 10, stars: 10 })
    expect(index.search(query('')).ids).toEqual([1, 3, 2])
    expect(index.search(query('', { sort: 'stars' })).ids).toEqual([1, 2, 3])
  })

  test('lists and totals equal those of sorting and filtering all skills, after any changes', () => {
    const name = fc.constantFrom('a', 'b', 'Z', 'é', '中', '\u{10FFFF}', '\u{FFFD}')
    const key = fc.constantFrom('u1', 'u2', 't1', 'o1')
    const count = fc.nat(3)
    const counts = fc.record({ downloads: count, stars: count })
    const flags = { stub: fc.boolean(), verified: fc.boolean(), deprecated: fc.boolean() }
    const audience = fc.constantFrom('guests' as const, 'users' as const, 'readers' as const)
    const fields = { ...flags, audience, readers: fc.array(key), effectLow: count, publishedAt: count }
    const change = fc.record({
      id: fc.nat(12),
      name: fc.option(fc.array(name, { minLength: 1 }), { nil: undefined }),
      fields: fc.record(fields),
      counts,
    })
    const flag = fc.option(fc.boolean(), { nil: undefined })
    const asked = fc.record({
      viewer: fc.option(fc.array(key), { nil: null }),
      filters: fc.record({ includeStubs: fc.boolean(), verified: flag, deprecated: flag }),
      sort: fc.constantFrom('downloads', 'recent', 'stars', 'effect', undefined),
      offset: fc.nat(4),
      limit: fc.nat(6),
      facets: fc.boolean(),
    })
    const steps = fc.array(fc.record({ kind: fc.constantFrom('put', 'count', 'remove'), change, asked }), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(steps, (all) => {
        const index = createSearchIndex()
        const documents = new Map<number, SearchDocument>()
        for (const { kind, change: one, asked: given } of all) {
          const before = documents.get(one.id)
          if (kind === 'remove') {
            documents.delete(one.id)
            index.remove(one.id)
          } else if (kind === 'count') {
            if (before) documents.set(one.id, { ...before, ...one.counts })
            index.putCounts({ id: one.id, ...one.counts })
          } else {
            const put = skill(one.id, one.name?.join('') ?? before?.name ?? `${one.id}`, {
              ...one.fields,
              ...one.counts,
            })
            const unique = { ...put, fullName: `ada/${put.name}-${one.id}` }
            documents.set(one.id, unique)
            index.put(unique)
          }
          const { ids, total } = index.search({ q: ' ', ...given })
          expect({ ids, total }).toEqual(listNaively([...documents.values()], given))
        }
      }),
    )
  })

  test('a sort with a query changes the order, but not the matches', () => {
    const index = indexOf(
      skill(1, 'a', { description: 'deploy kubernetes', downloads: 1 }),
      skill(2, 'b', { description: 'deploy kubernetes', downloads: 2 }),
      skill(3, 'c', { description: 'deploy websites', downloads: 1000 }),
    )
    expect(index.search(query('deploy kubernetes', { sort: 'downloads' }))).toEqual({ ids: [2, 1], total: 2 })
    expect(index.search(query('deploy kubernetes'))).toEqual({ ids: [2, 1], total: 2 })
    expect(index.search(query('deploy zeppelin', { sort: 'downloads' }))).toEqual({ ids: [3, 2, 1], total: 3 })
  })

  test('skills that rank equally are ordered by the code units of their full names', () => {
    const index = indexOf(
      skill(1, 'z', { owner: 'b' }),
      skill(2, 'x', { owner: 'b-c' }),
      skill(3, 'x', { owner: 'b' }),
      skill(4, '9', { owner: 'b' }),
    )
    expect(index.search(query('')).ids).toEqual([2, 4, 3, 1])
  })
})

const words = ['deploy', 'test', 'pdf', 'merge', '图像', 'lint']
const anySkill = fc.record({
  description: fc.array(fc.constantFrom(...words), { maxLength: 4 }).map((chosen) => chosen.join(' ')),
  downloads: fc.nat(3),
  stars: fc.nat(2),
  publishedAt: fc.nat(3),
  stub: fc.boolean(),
  audience: fc.constantFrom('guests' as const, 'users' as const, 'readers' as const),
  readers: fc.subarray(['ada', 'bob']),
})
const anyQuery = fc.array(fc.constantFrom(...words, 'depoly'), { maxLength: 3 }).map((chosen) => chosen.join(' '))
const anyViewer = fc.constantFrom('ada', 'bob', 'eve', null)

function toIdentifier([first, ...rest]: string[]): string {
  return first + rest.map((part) => part[0]!.toUpperCase() + part.slice(1)).join('')
}

const anyPart = fc.string({ unit: fc.constantFrom(...'bdfgklmnprt'), minLength: 4, maxLength: 7 })
const anyParts = fc.uniqueArray(anyPart, { minLength: 2, maxLength: 3 })
const others = [skill(2, 'cats', { description: 'Reads about cats.' }), skill(3, 'dogs', { summary: 'Walks dogs.' })]

describe('a search for a camelCase identifier', () => {
  test('finds skills with its words written separately, ranked after a skill with the identifier', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const identifier = toIdentifier(parts)
        const apart = skill(4, 'apart', { description: `Explains ${parts.join(' ')} and more.` })
        expect(indexOf(apart, ...others).search(query(identifier)).ids).toEqual([4])
        const together = skill(1, 'zhooks', { description: `Explains ${identifier} and more.` })
        expect(indexOf(apart, together, ...others).search(query(identifier)).ids[0]).toBe(1)
      }),
      { numRuns: 30 },
    )
  })
})

describe('an identifier in camelCase', () => {
  test('is found in any spelling, and by its separate words', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const identifier = toIdentifier(parts)
        const index = indexOf(skill(1, 'hooks', { description: `Explains ${identifier} and more.` }), ...others)
        const spellings = [identifier, identifier.toLowerCase(), parts.join(' '), parts.join('_'), parts[0]!]
        for (const q of spellings) expect(index.search(query(q)).ids).toEqual([1])
      }),
      { numRuns: 30 },
    )
  })

  test('is detected in linear time, even in a long word of another script', () => {
    // CPU time instead of elapsed time, which a busy machine would dominate.
    const before = process.threadCpuUsage()
    for (let i = 0; i < 20; i++) tokenize('é'.repeat(20_000))
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(2000)
  })

  test('is indexed by its parts and as a whole, but not by its parts if it is as long as encoded data', () => {
    expect(tokenize('getHTTPClient2 iOS')).toEqual(['get', 'http', 'client2', 'gethttpclient2', 'i', 'os', 'ios'])
    expect(tokenize(`a${'B'.repeat(50)}`)).toEqual([`a${'b'.repeat(termLengthMax - 1)}`])
  })
})

describe('for any skills and any query', () => {
  test('in every sort order the pages together contain each match exactly once', () => {
    fc.assert(
      fc.property(
        fc.array(anySkill, { maxLength: 40 }),
        anyQuery,
        fc.constantFrom(undefined, 'downloads' as const, 'recent' as const, 'stars' as const),
        fc.integer({ min: 1, max: 9 }),
        (skills, q, sort, limit) => {
          const index = indexOf(...skills.map((more, id) => skill(id, `s${id}`, more)))
          const whole = index.search(query(q, { sort, limit: 100 }))
          expect(whole.total).toBe(whole.ids.length)
          const joined: number[] = []
          for (let offset = 0; offset < whole.total + limit; offset += limit) {
            const page = index.search(query(q, { sort, offset, limit }))
            expect(page.total).toBe(whole.total)
            joined.push(...page.ids)
          }
          expect(joined).toEqual(whole.ids)
        },
      ),
    )
  })

  test('a viewer finds only skills that the viewer may see', () => {
    fc.assert(
      fc.property(
        fc.array(anySkill, { maxLength: 30 }),
        anyQuery,
        anyViewer,
        fc.boolean(),
        (skills, q, viewer, includeStubs) => {
          const documents = skills.map((more, id) => skill(id, `secret${id}`, more))
          const index = indexOf(skill(99, 'secret', { audience: 'readers', readers: ['ada', 'bob'] }))
          index.remove(99)
          for (const document of documents) index.put({ ...document, readers: ['ada', 'eve'] })
          for (const document of documents) index.put(document)
          const maySee = ({ audience, readers, stub }: SearchDocument) =>
            (includeStubs || !stub) &&
            (audience === 'guests' || (viewer !== null && (audience === 'users' || readers.includes(viewer))))
          const seen = documents.filter(maySee)
          const found = index.search(
            query('', { viewer: viewer && [viewer, 'team'], filters: { includeStubs }, limit: 100 }),
          )
          expect(found.ids.toSorted()).toEqual(seen.map(({ id }) => id).toSorted())
          const hits = index.search(query(q, { viewer: viewer && [viewer], filters: { includeStubs }, limit: 100 }))
          expect(seen.map(({ id }) => id)).toEqual(expect.arrayContaining(hits.ids))
          const names = seen.filter(({ stub }) => !stub).map(({ name }) => name)
          expect(names).toEqual(expect.arrayContaining(index.suggest('secret', 100, viewer && [viewer])))
        },
      ),
    )
  })

  test('inserting skills in another order, twice, or after removals changes no result', () => {
    fc.assert(
      fc.property(fc.array(anySkill, { minLength: 1, maxLength: 20 }), anyQuery, (skills, q) => {
        const documents = skills.map((more, id) => skill(id, `s${id}`, more))
        const index = indexOf(...documents)
        const other = indexOf(
          ...documents.map(({ id }) => skill(id, `old${id}`, { description: 'deploy test pdf' })),
          skill(99, 'gone', { description: words.join(' ') }),
          ...documents.toReversed(),
        )
        other.remove(99)
        for (const sort of [undefined, 'recent' as const]) {
          const asked = query(q, { sort, viewer: ['ada'] })
          expect(other.search(asked)).toEqual(index.search(asked))
        }
      }),
    )
  })
})

describe('a skill that the viewer may not see', () => {
  const data = skill(1, 'zebrafish', { description: 'zebrafish data' })

  test("does not affect a guest's spelling corrections, and its owner finds it", () => {
    const index = indexOf(data)
    const guest = query('zebrafisk ', { explain: true })
    const before = index.search(guest)
    expect(before.total).toBe(1)
    const hidden = skill(2, 'hidden', {
      owner: 'bob',
      description: 'zebrafisk',
      audience: 'readers',
      readers: ['bob'],
    })
    index.put(hidden)
    for (const viewer of [null, ['eve']]) expect(index.search({ ...guest, viewer })).toEqual(before)
    expect(index.search({ ...guest, viewer: ['bob'] }).ids).toEqual([2])
    expect(index.suggest('zebrafisk', 9, null)).toEqual(['zebrafish'])
    index.put({ ...hidden, audience: 'users' })
    expect(index.search(guest)).toEqual(before)
    expect(index.search({ ...guest, viewer: ['eve'] }).ids).toEqual([2])
    index.put({ ...hidden, audience: 'guests' })
    expect(index.search(guest).ids).toEqual([2])
    index.put(hidden)
    expect(index.search(guest)).toEqual(before)
  })

  const letters = [
    'deploy',
    'deploys',
    'deplay',
    'depl',
    'web',
    'scraping',
    'webscraping',
    '提示',
    '何提',
    '何示',
    'data',
    'date',
  ]
  const anyWord = fc.oneof(
    fc.constantFrom(...letters),
    fc.string({ unit: fc.constantFrom('d', 'a', 't'), minLength: 1, maxLength: 6 }),
  )
  const text = (maxLength: number) => fc.array(anyWord, { maxLength }).map((chosen) => chosen.join(' '))
  const written = fc.record({
    displayName: text(2),
    description: text(8),
    keywords: fc.array(anyWord, { maxLength: 2 }),
    summary: text(4),
    downloads: fc.nat(3),
    stub: fc.boolean(),
  })

  test('changes no total, order, score, word or completion for the viewer', () => {
    fc.assert(
      fc.property(
        fc.array(written, { maxLength: 20 }),
        fc.array(written, { maxLength: 20 }),
        fc.array(text(3), { minLength: 1, maxLength: 6 }),
        fc.constantFrom(undefined, 'downloads' as const),
        (open, secret, queries, sort) => {
          const shown = open.map((more, i) =>
            skill(i, `open${i}`, { ...more, audience: i % 4 === 3 ? 'users' : 'guests' }),
          )
          const hidden = secret.map((more, i) =>
            skill(100 + i, `hid${i}`, { ...more, owner: 'bob', audience: 'readers', readers: ['bob'] }),
          )
          const alone = indexOf(...shown)
          // Hidden ones first, in between and last: insertion order must not decide between equals.
          const together = indexOf(...hidden.slice(0, 5), ...shown, ...hidden)
          const answersOf = (index: ReturnType<typeof indexOf>) =>
            [null, ['eve']].map((viewer) =>
              queries.map((q) => [
                index.search(query(q, { sort, viewer, explain: true, limit: 100 })),
                index.search(query(`${q} `, { sort, viewer, explain: true, limit: 100 })),
                index.suggest(q, 20, viewer),
              ]),
            )
          const expected = answersOf(alone)
          expect(answersOf(together)).toEqual(expected)
          for (const document of hidden) together.put({ ...document, audience: 'guests' })
          for (const document of hidden) together.put(document)
          expect(answersOf(together)).toEqual(expected)
          for (const { id } of hidden) together.remove(id)
          expect(answersOf(together)).toEqual(expected)
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('filters', () => {
  const index = indexOf(
    skill(1, 'a', { category: 'Data', license: 'MIT', keywords: ['CSV'], verified: true, securityScore: 90 }),
    skill(2, 'b', { owner: 'bob', category: 'data', license: 'Apache-2.0', deprecated: true, securityScore: 40 }),
    skill(3, 'c', { category: 'data-science', keywords: ['csv-files'], stub: true }),
  )
  const find = (filters: Partial<IndexQuery['filters']>) =>
    index.search(query('', { filters: { includeStubs: true, ...filters } })).ids

  test('text values match only as a whole, ignoring case', () => {
    expect(find({ category: 'DATA' })).toEqual([1, 2])
    expect(find({ license: 'mit' })).toEqual([1])
    expect(find({ owner: 'Bob' })).toEqual([2])
    expect(find({ keyword: 'csv' })).toEqual([1])
    expect(find({ keyword: 'cs' })).toEqual([])
  })

  test('flags and minimum scores exclude skills, and stubs are listed only on request', () => {
    expect(find({ verified: true })).toEqual([1])
    expect(find({ verified: false })).toEqual([3, 2])
    expect(find({ deprecated: false })).toEqual([1, 3])
    expect(find({ minSecurityScore: 0 })).toEqual([1, 2])
    expect(find({ minSecurityScore: 41, category: 'data' })).toEqual([1])
    expect(index.search(query('')).ids).toEqual([1, 2])
  })

  test('filters also apply to searches with words, and to their totals', () => {
    expect(index.search(query('csv', { filters: { includeStubs: true, verified: true } }))).toEqual({
      ids: [1],
      total: 1,
    })
    expect(index.search(query('csv', { filters: { includeStubs: false } })).total).toBe(1)
  })
})

describe('changes', () => {
  test('a replaced skill is found only by its new words', () => {
    const index = indexOf(skill(1, 'old-name', { description: 'zeppelin flights', keywords: ['airship'] }))
    index.put(skill(1, 'new-name', { description: 'submarine dives' }))
    expect(index.size).toBe(1)
    for (const q of ['zeppelin', 'zepelin', 'airship', 'old', 'flig']) expect(index.search(query(q))).toEqual(nothing)
    expect(index.search(query('submarine'))).toEqual({ ids: [1], total: 1 })
    expect(index.suggest('zep', 10, null)).toEqual([])
    expect(index.suggest('old', 10, null)).toEqual([])
  })

  test('a removed skill leaves no data in the index', () => {
    const index = indexOf(skill(1, 'zeppelin', { description: 'zeppelin' }), skill(2, 'boats'))
    index.remove(1)
    index.remove(1)
    index.remove(77)
    index.putCounts({ id: 1, downloads: 9, stars: 9 })
    expect(index.size).toBe(1)
    for (const q of ['zeppelin', 'zepelin', 'zepp']) expect(index.search(query(q))).toEqual(nothing)
    expect(index.suggest('zep', 10, null)).toEqual([])
    expect(index.search(query('')).ids).toEqual([2])
    index.put(skill(3, 'trains'))
    expect(index.search(query('', { filters: { includeStubs: false, owner: 'ada' } })).ids).toEqual([2, 3])
  })

  test('a skill that becomes private disappears for others at once, with its words in suggestions', () => {
    const open = skill(1, 'zeppelin', { description: 'secretword secretword', readers: ['ada'] })
    const index = indexOf(open, skill(2, 'also', { ...open, id: 2, name: 'also', fullName: 'ada/also' }))
    index.put({ ...open, audience: 'readers' })
    index.put({ ...open, id: 2, name: 'also', fullName: 'ada/also', audience: 'readers' })
    for (const viewer of [null, ['eve']]) {
      expect(index.search(query('secretword', { viewer }))).toEqual(nothing)
      expect(index.suggest('secr', 10, viewer)).toEqual([])
      expect(index.suggest('zep', 10, viewer)).toEqual([])
    }
    expect(index.search(query('secretword', { viewer: ['ada'] })).total).toBe(2)
    expect(index.suggest('secr', 10, ['ada'])).toEqual(['secretword'])
  })
})

describe('suggestions', () => {
  const index = indexOf(
    skill(1, 'pdf-forms', { description: 'Extract tables.', downloads: 10 }),
    skill(2, 'pdf-merge', { description: 'Extract pages.', downloads: 500 }),
    skill(3, 'view-pdf', { description: 'Extract text from pdfs with performance.', downloads: 9000 }),
    skill(4, 'stubby-pdf', { stub: true }),
  )

  test('names with the typed prefix come first, by popularity', () => {
    expect(index.suggest('pd', 10, null)).toEqual(['pdf-merge', 'pdf-forms', 'pdf', 'view-pdf'])
    expect(index.suggest('pdf-f', 10, null)).toEqual(['pdf-forms'])
    expect(index.suggest('PDF fo', 10, null)).toEqual(['pdf-forms'])
  })

  test('an unfinished word is completed to a frequent word that occurs with the preceding words', () => {
    expect(index.suggest('ext', 10, null)).toEqual(['extract'])
    expect(index.suggest('pdf ext', 10, null)).toEqual(['pdf extract'])
    expect(index.suggest('zeppelin ext', 10, null)).toEqual([])
  })

  test('a misspelling is completed to the intended word', () => {
    expect(index.suggest('extarct', 10, null)).toEqual(['extract'])
  })

  test('there are at most as many suggestions as requested, and none for an empty query', () => {
    expect(index.suggest('pd', 2, null)).toEqual(['pdf-merge', 'pdf'])
    expect(index.suggest('pd', 0, null)).toEqual([])
    for (const q of ['', ' ', '?', '_']) expect(index.suggest(q, 10, null)).toEqual([])
  })
})

describe('hostile input', () => {
  const odd = [
    '!'.repeat(10_000),
    'a'.repeat(10_000),
    Array.from({ length: 5000 }, (_, i) => `word${i}`).join(' '),
    '__proto__ constructor hasOwnProperty toString',
    '\ud800 \udfff \0 \u202e \uffff',
    '*:() AND OR NOT "unclosed',
    '图'.repeat(10_000),
  ]

  test('queries and documents of any kind are accepted', () => {
    for (const text of odd) {
      const document = skill(1, 'odd', { description: text, headings: [text], keywords: [text], summary: text })
      const index = indexOf(document)
      for (const q of odd) {
        index.search(query(q, { explain: true }))
        index.suggest(q, 10, null)
      }
      index.remove(1)
      expect(index.search(query(text))).toMatchObject(nothing)
    }
  })

  test('names of JavaScript object members, such as constructor, are ordinary words', () => {
    const index = indexOf(skill(1, 'constructor', { description: '__proto__' }), skill(2, 'plain'))
    expect(index.search(query('constructor')).ids).toEqual([1])
    expect(index.search(query('__proto__')).ids).toEqual([1])
    expect(index.search(query('hasOwnProperty'))).toEqual(nothing)
    expect(index.search(query('', { filters: { includeStubs: false, category: '__proto__' } }))).toEqual(nothing)
  })

  test('any string is accepted as a query', () => {
    const index = indexOf(skill(1, 'some-skill', { description: 'Some words. 图像生成' }))
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (q) => {
        const { ids, total } = index.search(query(q))
        expect(ids.length).toBe(total)
        index.suggest(q, 5, null)
      }),
    )
  })
})

describe('tokens', () => {
  test('a query has a limited number of terms of limited length', () => {
    const { terms } = parseQuery(Array.from({ length: 200 }, (_, i) => `w${i}`).join(' '))
    expect(terms.length).toBe(queryTermsMax)
    expect(parseQuery('x'.repeat(400)).terms).toEqual(['x'.repeat(termLengthMax)])
  })

  test('any text that contains a query has all tokens of the query', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const inText = new Set(tokenize(`before ${text} after`))
        for (const term of parseQuery(text).terms) expect(inText).toContain(term)
      }),
    )
  })

  test('a long query ends with a whole word', () => {
    expect(parseQuery('data '.repeat(200))).toEqual({ terms: ['data'], lastIsOpen: false })
    expect(parseQuery('a'.repeat(600)).terms).toEqual(['a'.repeat(termLengthMax)])
  })

  test("the ending of a contraction such as we're is removed", () => {
    expect(tokenize("I'd, you’ll, we're; they've; it's; o'clock; 'd")).toEqual('i you we they it oclock d'.split(' '))
  })

  test('the text for an index in the database has the tokens of each field', () => {
    const document = skill(1, 'pdf-forms', {
      displayName: 'PDF Forms',
      description: 'C++ 图像生成',
      headings: ['A b', 'C'],
    })
    const terms = toContentVector('Merges.\n')
    expect(toIndexText(document, terms)).toEqual({
      name: 'pdf forms pdf forms',
      owner: 'ada',
      keywords: '',
      description: 'cpp 图像 像生 生成 成',
      headings: 'a b c',
      summary: '',
      category: '',
      // The stems of all fields and of the body.
      body: expect.stringMatching(/^[§¤][a-z0-9]{4,7}( [§¤][a-z0-9]{4,7}){8}$/),
    })
  })

  test('other forms of a word are derived from it', () => {
    expect(inflectionsOf('deploys')).toEqual(expect.arrayContaining(['deploy', 'deployed', 'deploying']))
    expect(inflectionsOf('planning')).toEqual(expect.arrayContaining(['plan', 'plans', 'planned']))
    expect(inflectionsOf('queries')).toContain('query')
    expect(inflectionsOf('class')).not.toContain('clas')
    expect(inflectionsOf('k8s')).toEqual([])
  })
})

const isEven = (id: number) => id % 2 === 0

describe('a prefix of very many words', () => {
  const many = Array.from({ length: 21_000 }, (_, i) => `zz${i.toString(36)}`)
  const skillsOf = (audience: SearchDocument['audience']) =>
    Array.from({ length: 11 }, (_, id) =>
      skill(id, `s${id}`, { description: many.slice(id * 2000, id * 2000 + 2000).join(' '), audience }),
    )

  test('is completed with some of these words, and the result is partial', () => {
    const index = indexOf(...skillsOf('guests'))
    const found = index.search(query('zz'))
    expect(found.partial).toBe(true)
    expect(found.total).toBeGreaterThan(0)
    expect(index.search(query('zz1')).partial).toBeUndefined()
  })

  test('is not partial because of words of private skills', () => {
    const index = indexOf(...skillsOf('readers'), skill(20, 'zzz'))
    expect(index.search(query('zz'))).toEqual({ ids: [20], total: 1 })
  })
})

describe('the search index', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 7 })

  test('a misspelling is compared with a limited number of words', () => {
    const filed = Array.from({ length: 3000 }, (_, i) => `typ${String.fromCodePoint(0x100 + i)}script`)
    const dictionary = new TypoDictionary((id) => filed[id - 1]!)
    for (const [i, added] of filed.entries()) dictionary.add(i + 1, added)
    const budget = { left: 2000 }
    expect(dictionary.findRepairs('typescript', isEven, budget)).toHaveLength(1500)
    expect(budget.left).toBe(500)
    expect(dictionary.findRepairs('typescript', isEven, budget)).toHaveLength(500)
    expect(dictionary.findRepairs('typescript', isEven, budget)).toEqual([])
  })

  test('every indexed word at an edit distance of one is found', () => {
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 30 }), word, (filed, misspelling) => {
        const dictionary = new TypoDictionary((id) => filed[id - 1]!)
        for (const [i, added] of filed.entries()) dictionary.add(i + 1, added)
        for (const [i, removed] of filed.entries()) if (i % 2 === 0) dictionary.remove(i + 1, removed)
        const near = filed.filter((other, i) => i % 2 === 1 && editDistance(other, misspelling) === 1)
        const found = dictionary
          .findRepairs(misspelling, () => true, { left: Infinity })
          .map(({ id }) => filed[id - 1]!)
        expect(found.toSorted()).toEqual(near.toSorted())
      }),
    )
  })

  test('a page of the top results equals the same page of the fully sorted results', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 200 }), fc.nat(60), fc.nat(30), (values, offset, limit) => {
        const keys = Float64Array.from(values)
        const ranks = Int32Array.from(values, (_, i) => i)
        const all = [...ranks].toSorted((a, b) => keys[b]! - keys[a]! || a - b)
        const page = topSlots(ranks.toReversed(), keys, ranks, offset, limit)
        expect(page).toEqual(all.slice(offset, offset + limit))
      }),
    )
  })
})

describe('an index in its own thread', () => {
  const options = { onLost, onError: onLost }

  test('finds the skills that were put into it, and counts them', async () => {
    const index = new IndexThread(options)
    const documents = Array.from({ length: 600 }, (_, i) => skill(i + 1, `skill-${i}`))
    for (let i = 0; i < documents.length; i += 100) await index.put(documents.slice(i, i + 100))
    index.remove([8])
    index.putCounts([{ id: 10, downloads: 1, stars: 0 }])
    const [found, completions] = await Promise.all([
      index.search(query('skill', { sort: 'downloads', limit: 2 })),
      index.suggest('skill-59', 1, null),
    ])
    expect(found).toEqual({ ids: [10, 1], total: 599 })
    expect(completions).toEqual(['skill-59'])
    expect(index.size).toBe(599)
    index.close()
  })

  test('refuses searches while the oldest pending search waits too long', async () => {
    let nowMs = 0
    const index = new IndexThread({ ...options, now: () => nowMs })
    const [first, second] = [index.search(query('a')), index.search(query('b'))]
    nowMs = 401
    await expect(index.search(query('c'))).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
    expect(await Promise.all([first, second])).toEqual([nothing, nothing])
    index.close()
  })

  test('refuses searches that would wait too long behind other pending searches', async () => {
    let nowMs = 0
    const index = new IndexThread({ ...options, now: () => nowMs })
    const first = index.search(query('a'))
    nowMs = 100
    await first
    // A search takes 100 ms, so the sixth would wait for 500 ms.
    const results = await Promise.allSettled(Array.from({ length: 7 }, () => index.search(query('a'))))
    expect(results.map(({ status }) => status)).toEqual([...Array(5).fill('fulfilled'), 'rejected', 'rejected'])
    index.close()
  })

  test('reports a document that cannot be indexed, and keeps all other documents', async () => {
    const errors: unknown[] = []
    const index = new IndexThread({ onLost, onError: (error) => errors.push(error) })
    await index.put([skill(1, 'before')])
    await index.put([null as unknown as SearchDocument])
    await index.put([skill(2, 'after')])
    await index.flush()
    expect([index.size, errors.length]).toEqual([2, 1])
    index.close()
  })

  test('ignores replies and changes after it was closed', async () => {
    const index = new IndexThread(options)
    await index.put([skill(1, 'one')])
    await index.flush()
    const searches = Array.from({ length: 30 }, () => index.search(query('one')))
    // Blocks this thread until the replies have arrived.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    index.close()
    const ends = await Promise.allSettled(searches)
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'closed' } })
    await index.put([skill(2, 'two')])
    await expect(index.search(query('one'))).rejects.toMatchObject({ code: 'closed' })
  })
})
