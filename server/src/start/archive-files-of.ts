import path from 'node:path'
import type { Config } from '#/config/config.ts'
import { ArchiveFiles } from '#/groups/term-end/archive-files.ts'

/** Where archives of homes are. */
export const archiveFilesOf = ({ archiveDir, dataDir }: Pick<Config, 'archiveDir' | 'dataDir'>): ArchiveFiles =>
  new ArchiveFiles(archiveDir ?? path.join(dataDir, 'archives'))
