import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './run.mjs'

/** @import { Need } from './machine.mjs' */
/** @import { SetupContext } from './setup-context.mjs' */

const debianFolder = '/usr/lib/postgresql'

/**
 * PostgreSQL's server programs, for the tests of the store. They start servers of their own; none needs to be running.
 * @param {SetupContext} here
 * @returns {Promise<Need | undefined>} undefined when they are there
 */
export async function needPostgres(here) {
  if (findProgram(here.env, ['initdb'], debianBinFolders()) !== undefined) return undefined
  return {
    step: 'postgres',
    what: "PostgreSQL's server programs, because tests of the store start one",
    packages: ['postgresql'],
    byHand: 'Elsewhere: put its folder with initdb and postgres in PATH.',
  }
}

/** Debian keeps the server's programs out of PATH, a folder for each version. */
function debianBinFolders() {
  try {
    return readdirSync(debianFolder).map((version) => join(debianFolder, version, 'bin'))
  } catch {
    return []
  }
}
