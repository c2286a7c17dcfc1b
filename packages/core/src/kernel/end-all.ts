/** As `Promise.all`, but rejects only after all promises: no statement may reach a transaction after its rollback. */
export async function endAll<Works extends readonly unknown[]>(
  works: readonly [...Works],
): Promise<{ -readonly [Key in keyof Works]: Awaited<Works[Key]> }> {
  const results = await Promise.allSettled(works)
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  }) as never
}
