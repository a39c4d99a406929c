/** Where starter files come from: a folder or an archive of this machine, or a Git repository. */
export type FilesOrigin =
  | { readonly path: string }
  | { readonly archive: string }
  /** `ref`: a branch, a tag or a commit; null: the branch that the repository names as its own. */
  | { readonly git: string; readonly ref: string | null }

/** Files that are put into a home before the container is started. */
export interface StarterFiles {
  readonly from: FilesOrigin
  /** Folder in the home, without a slash at its ends; empty: the home itself. */
  readonly to: string
  /** `never`: put there once · `missing`: also what is missing later · `changed`: also what is another by now. */
  readonly update: 'never' | 'missing' | 'changed'
}

/** Ends of the names of archives that can be read. */
export const archiveNames = /\.(tar|tar\.gz|tgz|zip)$/i
