import type { Snapshot } from '@berth/api/schemas/features/snapshots.ts'
import { ann, developmentEntry, minutesAgo } from '../user-fixtures.ts'
import { Refused, type Story } from '../story.ts'

const day = 60 * 24
const dev = developmentEntry({ status: 'exited' })
const snapshot = (reason: Snapshot['reason'], minutes: number, bytes: number): Snapshot => ({
  id: `${minutes}-${reason}`,
  reason,
  created_at: minutesAgo(minutes),
  bytes,
})
const snapshots = [
  snapshot('manual', 5, 48e6),
  snapshot('image', day, 47.2e6),
  snapshot('reset', 3 * day, 1.3e9),
  snapshot('manual', 8 * day, 900),
]
const page: Omit<Story, 'name'> = {
  path: '/snapshots',
  boot: { has_snapshots: true },
  answers: {
    me: ann,
    listContainers: { containers: [dev] },
    listSnapshots: { snapshots, has_starter_files: true },
    listFolders: {
      bytes: 1_321_000_000,
      files: 18_412,
      is_complete: true,
      has_more: true,
      entries: [
        { name: 'data', is_folder: true, kind: 'folder', bytes: 1_100_000_000, files: 12 },
        { name: '.cache', is_folder: true, kind: 'folder', bytes: 190_000_000, files: 17_204 },
        {
          name: 'a-very-long-name-of-a-notebook-that-does-not-break-anywhere.ipynb',
          is_folder: false,
          kind: 'file',
          bytes: 31_000_000,
          files: 1,
        },
        { name: 'notes', is_folder: true, kind: 'folder', bytes: 4_100, files: 1_195 },
      ],
    },
  },
}

/** Snapshots of homes. */
export const snapshotStories: readonly Story[] = [
  { name: 'snapshots/some', ...page },
  { name: 'snapshots/restore', ...page, press: ['RestoreRestore the snapshot of 21 Nov 2026, 08:55'] },
  {
    name: 'snapshots/running',
    ...page,
    answers: {
      ...page.answers,
      listContainers: { containers: [developmentEntry({ status: 'running' })] },
      listSnapshots: { snapshots: [], has_starter_files: false },
      takeSnapshot: new Refused(409, 'The container runs. Stop it first, so that nothing changes its files meanwhile.'),
    },
    press: ['Make a snapshotMake a snapshot of Development'],
  },
  {
    name: 'snapshots/upload',
    ...page,
    press: [
      'More actions for the home folder of Development',
      'Upload an archiveUpload an archive into the home folder of Development',
    ],
  },
  {
    name: 'snapshots/folders',
    ...page,
    press: ['More actions for the home folder of Development', 'FilesFiles of Development'],
  },
  {
    name: 'snapshots/folders-unread',
    ...page,
    answers: { ...page.answers, listFolders: new Refused(409, 'There are no files yet: launch the container once.') },
    press: ['More actions for the home folder of Development', 'FilesFiles of Development'],
  },
  {
    name: 'snapshots/reset',
    ...page,
    press: [
      'More actions for the home folder of Development',
      'Reset to the starter filesReset the home folder of Development to the starter files',
    ],
  },
  { name: 'snapshots/off', ...page, boot: {} },
]
