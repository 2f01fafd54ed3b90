"""What is published of the answers."""

__version__ = "0.1.0"


def published(answers, generator):
    """Each answer, turned round with probability 1/4.

    Args:
        answers: 0 for no, 1 for yes.
        generator: a numpy generator; for publication it comes from the operating system.
    """
    return [answer if generator.random() < 0.75 else 1 - answer for answer in answers]
