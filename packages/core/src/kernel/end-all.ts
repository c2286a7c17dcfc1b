/** As `Promise.all`, but rejects only after all have ended: no statement may reach a transaction after its rollback. */
export async function endAll<Works extends readonly unknown[]>(
  works: readonly [...Works],
): Promise<{ -readonly [Key in keyof Works]: Awaited<Works[Key]> }> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
