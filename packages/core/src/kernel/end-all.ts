/**
 * As `Promise.all`, but waits for all promises before it rejects: no statement may reach a transaction after the
 * rollback.
 */
export async function endAll<Works extends readonly unknown[]>(
  works: readonly [...Works],
): Promise<{ -readonly [Key in keyof Works]: Awaited<Works[Key]> }> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
