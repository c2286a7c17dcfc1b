import { type Command } from '../command.ts'
import { publishExamples } from '../example-skills.ts'
import { storeOptions, withRegistry } from '../place.ts'

/** `skillstead examples`. */
export const examples: Command<{ published: string[] }> = {
  summary: 'Publish the example skills.',
  words: [],
  options: storeOptions,
  run: (given) =>
    withRegistry(given, async (registry) => ({ published: await publishExamples(registry) }), { make: true }),
  show: ({ published }) => published,
}
