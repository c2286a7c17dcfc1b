/** A long list of short words. */
export const words = (text: string): string[] => text.trim().split(/\s+/)
