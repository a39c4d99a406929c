import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'

/** An archive that is not taken. */
export class BadArchive extends Error {
  readonly sentence: LocalizedMessage

  constructor(sentence: LocalizedMessage, cause?: unknown) {
    super(sentence.key, { cause })
    this.sentence = sentence
  }
}

/** @param name of the entry that leads out of the archive, or that no file system takes */
export const badName = (name: string) => new BadArchive(message('snapshots.badName', { name: name.slice(0, 200) }))

/** @param name of a hard link to what does not come before it */
export const missingTarget = (name: string) =>
  new BadArchive(message('snapshots.missingTarget', { name: name.slice(0, 200) }))

/** @param name that is in the archive twice, where one entry cannot take the place of the other */
export const fileAndFolder = (name: string) =>
  new BadArchive(message('snapshots.fileAndFolder', { name: name.slice(0, 200) }))

/** @param max entries of one archive */
export const tooManyFiles = (max: number) => new BadArchive(message('snapshots.tooManyFiles', { max }))

/** Extended headers have more bytes together than the entries need. */
export const tooMuchMetadata = () => new BadArchive(message('snapshots.tooMuchMetadata'))

/** Only GNU tar reads them, so that a part of the content is not to be had. */
export const sparseArchive = () => new BadArchive(message('snapshots.sparseArchive'))
