package dev.tidemark.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;

/** {@code java -jar tidemark.jar}: finds the command, runs it, and turns whatever happens into one line and an exit code. */
@Command(
        name = "tidemark",
        description = "Event streams that never lose their past.",
        versionProvider = Main.Version.class,
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:refused by the server, or damage found",
            "2:wrong command line or configuration",
            "3:server not reachable"
        })
public final class Main {
    private static final List<String> ABOUT_US = List.of("-h", "--help", "-V", "--version");

    private Main() {}

    /** The process: ends it with the command's exit code. */
    public static void main(String[] args) {
        Terminal terminal = Terminal.ofProcess();
        String[] typed;
        try {
            typed = Arguments.asTyped(args);
        } catch (CommandFailure e) {
            terminal.note(e.message());
            System.exit(e.exitCode());
            return;
        }
        System.exit(run(typed, terminal));
    }

    /**
     * Runs a command.
     *
     * @return the exit code
     */
    static int run(String[] args, Terminal terminal) {
        CommandLine line = commandLine(terminal);
        try {
            return line.execute(withCommand(args));
        } catch (Terminal.Closed e) {
            return ExitCode.DONE;
        }
    }

    /** {@code serve} is meant when no command is named. */
    private static String[] withCommand(String[] args) {
        boolean named = args.length > 0 && (!args[0].startsWith("-") || ABOUT_US.contains(args[0]));
        if (named) {
            return args;
        }
        String[] serve = new String[args.length + 1];
        serve[0] = "serve";
        System.arraycopy(args, 0, serve, 1, args.length);
        return serve;
    }

    private static CommandLine commandLine(Terminal terminal) {
        StreamsCommand.Streams all = new StreamsCommand.Streams(terminal);
        CommandLine streams = command(all)
                .addSubcommand("list", command(new StreamsCommand.ListAll(terminal, all.server())))
                .addSubcommand("show", command(new StreamsCommand.Show(terminal, all.server())))
                .addSubcommand("create", command(new StreamsCommand.Create(terminal, all.server())))
                .addSubcommand("delete", command(new StreamsCommand.Delete(terminal, all.server())));
        CommandLine line = new CommandLine(new Main())
                .addSubcommand("serve", command(new ServeCommand()))
                .addSubcommand("append", command(new AppendCommand(terminal)))
                .addSubcommand("tail", command(new TailCommand(terminal)))
                .addSubcommand("read", command(new ReadCommand(terminal)))
                .addSubcommand("streams", streams)
                .addSubcommand("verify", command(new VerifyCommand(terminal)));
        return line.setExpandAtFiles(false)
                .setOut(new PrintWriter(System.out, true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(terminal.err(), true, StandardCharsets.UTF_8))
                .setParameterExceptionHandler((wrong, args) -> usage(wrong, terminal))
                .setExecutionExceptionHandler((failure, command, parsed) -> failed(failure, terminal));
    }

    private static CommandLine command(Object command) {
        CommandLine line = new CommandLine(command);
        line.getCommandSpec().mixinStandardHelpOptions(true);
        return line;
    }

    private static int usage(ParameterException wrong, Terminal terminal) {
        String command = wrong.getCommandLine().getCommandSpec().qualifiedName();
        terminal.note(wrong.getMessage() + "; see '" + command + " --help'");
        return ExitCode.USAGE;
    }

    private static int failed(Exception failure, Terminal terminal) {
        if (failure instanceof Terminal.Closed) {
            return ExitCode.DONE;
        }
        if (failure instanceof CommandFailure known) {
            terminal.note(known.message());
            return known.exitCode();
        }
        String message = failure.getMessage();
        boolean ours = failure.getClass().getName().startsWith("dev.tidemark.");
        terminal.note(
                message == null || message.isEmpty()
                        ? failure.toString()
                        : ours ? message : failure.getClass().getSimpleName() + ": " + message);
        return ExitCode.REFUSED;
    }

    /** The version that the jar's manifest names. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {"tidemark " + (version == null ? "(not from a jar)" : version)};
        }
    }
}
