/** Identifies the engine and the rules: versions with a report of another engine or other rules are scanned again. */
export const rulesVersion = '13.49c0d7fbfb7c'
