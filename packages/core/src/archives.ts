/** Packages of skills, as an entry of its own: a program that only installs need not load the registry. */
export { ArchiveError } from './archives/archive-error.ts'
export { checkPaths } from './archives/file-paths.ts'
export { gitFolderLeftOut } from './archives/git-paths.ts'
export { readArchive, readArchiveFiles, type ArchiveFile } from './archives/read-archive.ts'
export { readZip } from './archives/read-zip.ts'
export { readBytes } from './read-bytes.ts'
