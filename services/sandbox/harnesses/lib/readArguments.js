// The command line that both harnesses share: -p PROMPT [--max-turns N] [--context-limit N] [--model M].

const integers = new Map([
  ['--max-turns', 'maxTurns'],
  ['--context-limit', 'contextLimit'],
]);

/** Reads the arguments after the program name; on a mistake prints one line and exits 2. */
export function readArguments(name, argv) {
  const options = { prompt: '', maxTurns: 8, contextLimit: 1500, model: 'policy' };
  const usage = (problem) => {
    process.stderr.write(
      `${name}: ${problem}\nusage: ${name} -p PROMPT [--max-turns N] [--context-limit N] [--model M]\n`,
    );
    process.exit(2);
  };
  for (let at = 0; at < argv.length; at += 2) {
    const flag = argv[at];
    const value = argv[at + 1];
    if (value === undefined) usage(`${flag} needs a value`);
    else if (flag === '-p') options.prompt = value;
    else if (flag === '--model') options.model = value;
    else if (integers.has(flag)) {
      if (!/^[1-9]\d{0,8}$/.test(value)) usage(`${flag} takes a positive whole number, not ${value}`);
      options[integers.get(flag)] = Number(value);
    } else usage(`unknown argument ${flag}`);
  }
  if (options.prompt.trim() === '') usage('-p PROMPT is missing');
  return options;
}
