import type { Command } from '../command.ts';
import { subcommand } from '../subcommand.ts';

/** `schemas check`: every published version of every event against the current one, both ways. */
export const command: Command = {
  name: 'schemas',
  summary: 'check that the event schemas can be read by older and newer programs',
  usage: 'schemas check',
  options: {},
  positionals: { min: 0, max: 1 },
  async run({ positionals, emit, out }) {
    subcommand('schemas', positionals, ['check']);
    const { checkSchemas } = await import('../schemas/checkSchemas.ts');
    const { events, published, problems } = checkSchemas();
    emit({ ok: problems.length === 0, events, published, problems });
    for (const problem of problems) out(`${problem.event} (${problem.version}): ${problem.why}`);
    const older = `${published} published older ${published === 1 ? 'version' : 'versions'}`;
    out(
      `${events} events, ${older}, ${problems.length === 0 ? 'all compatible' : `${problems.length} broken`}`,
    );
    return problems.length === 0 ? 0 : 1;
  },
};
