/** An expected error with a sentence for the user. Any other thrown value is a bug and becomes 500. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {Readonly<Record<string, string>>} [headers]
   */
  constructor(status, message, headers = {}) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.headers = headers
  }
}

/** Sentences for the file system's error codes. */
const meanings = new Map([
  ['ENOENT', { status: 404, message: 'There is no such file or folder.' }],
  ['ENOTDIR', { status: 404, message: 'There is no such folder.' }],
  ['EEXIST', { status: 409, message: 'Something of this name is there already.' }],
  ['ENOTEMPTY', { status: 409, message: 'A folder of this name is there already, and it is not empty.' }],
  ['EISDIR', { status: 409, message: 'This is a folder, not a file.' }],
  ['EINVAL', { status: 400, message: 'This cannot be done with this name, or a folder would be moved into itself.' }],
  ['ENAMETOOLONG', { status: 400, message: 'This name is too long.' }],
  ['ELOOP', { status: 400, message: 'This link leads in circles.' }],
  ['EACCES', { status: 403, message: 'The file system does not allow this.' }],
  ['EPERM', { status: 403, message: 'The file system does not allow this.' }],
  ['EROFS', { status: 403, message: 'This file system is read-only.' }],
  ['ENOSPC', { status: 507, message: 'The disk is full.' }],
  ['EDQUOT', { status: 507, message: 'Your share of the disk is full.' }],
])

/**
 * @param {unknown} error
 * @returns {Refusal | undefined} undefined when it is not an expected one
 */
export function asRefusal(error) {
  if (error instanceof Refusal) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const meaning = meanings.get(code)
  return meaning && new Refusal(meaning.status, meaning.message)
}
