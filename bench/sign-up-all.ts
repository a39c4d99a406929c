import type { Berth, Person } from '../server/test/support/berth.ts'

/** Signs up so many users, one after the other. */
export async function signUpAll(berth: Berth, count: number): Promise<Person[]> {
  const users: Person[] = []
  for (let each = 0; each < count; each++) users.push(await berth.signUp(`person${each}@bench.test`))
  return users
}
