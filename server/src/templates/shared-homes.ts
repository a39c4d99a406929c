import type { TemplateProblem } from './read-templates.ts'
import type { Template } from './template.ts'

type Sharing = Pick<Template, 'type' | 'home' | 'homeOf' | 'homeSize'>

/** What types that share the home of a person must agree on, because there is one home. One problem at most for each type. */
export function sharedHomeProblems(templates: readonly Sharing[]): TemplateProblem[] {
  const [first, ...others] = templates.filter(({ home, homeOf }) => home !== null && homeOf === 'user')
  return others.flatMap((each) => {
    if (!first || each.homeSize === first.homeSize) return []
    const problem =
      `${each.type}: home_size is another than that of ${first.type}, and both have home_of: user: ` +
      `they share one home. Give both the same, or one of them home_of: type`
    return [{ type: each.type, problem }]
  })
}
